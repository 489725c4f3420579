use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Directories of one cgroup, by controller; the key of v2's only one is "".
pub(super) type Places = BTreeMap<String, PathBuf>;

/// Where the cgroups of a process lie. `cgroup` is its `/proc/<pid>/cgroup`,
/// `mounts` our `/proc/self/mountinfo`, and `owner` the engine's id of the
/// container that it should belong to.
///
/// A line that does not name the owner is left out, and with it the danger
/// of a process id that is somebody else's by now: to end all processes of
/// a cgroup that we took for another's would end the host's own.
pub(super) fn places(
    cgroup: &str,
    mounts: &[CgroupMount],
    owner: &str,
) -> Places {
    let mut places = Places::new();
    for line in cgroup.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next())
        else {
            continue;
        };
        if owner.is_empty() || !path.contains(owner) {
            continue;
        }
        for controller in controllers.split(',') {
            let mount = mounts.iter().find(|m| m.serves(controller));
            if let Some(directory) = mount.and_then(|m| m.directory(path)) {
                places.insert(controller.to_owned(), directory);
            }
        }
    }
    places
}

/// One mounted hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CgroupMount {
    /// Which part of the hierarchy is seen there.
    root: String,
    at: PathBuf,
    /// Its controllers; empty for v2.
    controllers: Vec<String>,
}

impl CgroupMount {
    /// All of a `/proc/self/mountinfo`.
    pub(super) fn parse(mountinfo: &str) -> Vec<Self> {
        mountinfo.lines().filter_map(Self::parse_line).collect()
    }

    fn parse_line(line: &str) -> Option<Self> {
        let (mount, filesystem) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, at) = (mount.next()?, mount.next()?);
        let mut filesystem = filesystem.split(' ');
        let kind = filesystem.next()?;
        let options = filesystem.nth(1)?;
        let controllers = match kind {
            "cgroup" => options.split(',').map(str::to_owned).collect(),
            "cgroup2" => Vec::new(),
            _ => return None,
        };
        Some(Self { root: root.to_owned(), at: PathBuf::from(at), controllers })
    }

    fn serves(&self, controller: &str) -> bool {
        if controller.is_empty() {
            self.controllers.is_empty()
        } else {
            self.controllers.iter().any(|own| own == controller)
        }
    }

    fn directory(&self, path: &str) -> Option<PathBuf> {
        let below = if self.root == "/" {
            path
        } else {
            // A daemon in a container sees a part of the tree only.
            path.strip_prefix(&self.root)?
        };
        let below = Path::new(below.trim_start_matches('/'));
        // A path that climbs is of a cgroup outside what we see.
        let climbs = below.components().any(|part| part.as_os_str() == "..");
        (!climbs).then(|| self.at.join(below))
    }
}
