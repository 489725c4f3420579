use crate::capacity::root::Root;
use std::path::{Path, PathBuf};

/// One folder of a cgroup hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::capacity) struct Place {
    /// The folder, as a path below the root.
    pub(in crate::capacity) dir: PathBuf,
    /// The cgroup's own name, as `/docker`.
    pub(in crate::capacity) name: String,
    /// Whether it speaks the words of v2.
    pub(in crate::capacity) unified: bool,
}

/// The ways up that count and those that do not, for one controller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::capacity) struct Ways {
    /// From the jobs' cgroup up, the leaf first.
    pub(in crate::capacity) jobs: Vec<Place>,
    /// From the daemon's own up; empty where that is also the jobs' way.
    pub(in crate::capacity) own: Vec<Place>,
}

/// Both ways up. Without `jobs_at` the jobs live where the daemon does.
pub(in crate::capacity) fn ways(
    root: &Root,
    controller: &str,
    jobs_at: Option<&str>,
) -> Ways {
    let mounts = root.word("/proc/self/mountinfo").unwrap_or_default();
    let Some(mount) = Mount::find(&mounts, controller) else {
        return Ways::default();
    };
    let memberships = root.word("/proc/self/cgroup").unwrap_or_default();
    let own = membership(&memberships, controller, mount.unified);
    let own = mount.up_from(root, own.unwrap_or("/"));
    match jobs_at {
        Some(path) => Ways { jobs: mount.up_from(root, path), own },
        None => Ways { jobs: own, own: Vec::new() },
    }
}

/// The path that `/proc/self/cgroup` names for one controller.
fn membership<'a>(
    text: &'a str,
    controller: &str,
    unified: bool,
) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (id, controllers) = (parts.next()?, parts.next()?);
        let path = parts.next()?;
        let hit = if unified {
            id == "0" && controllers.is_empty()
        } else {
            controllers.split(',').any(|c| c == controller)
        };
        hit.then_some(path)
    })
}

/// Where a hierarchy can be seen, and from which of its cgroups on.
#[derive(Debug, PartialEq, Eq)]
struct Mount<'a> {
    /// In a container often not `/`: what lies above cannot be seen.
    top: &'a str,
    point: &'a str,
    unified: bool,
}

impl<'a> Mount<'a> {
    /// A v1 mount of the controller comes first: on a hybrid machine the
    /// unified hierarchy is mounted too, without controllers.
    fn find(mountinfo: &'a str, controller: &str) -> Option<Self> {
        let all = || mountinfo.lines().filter_map(Self::parse);
        all()
            .find(|(mount, options)| {
                !mount.unified && options.split(',').any(|o| o == controller)
            })
            .or_else(|| all().find(|(mount, _)| mount.unified))
            .map(|(mount, _)| mount)
    }

    fn parse(line: &'a str) -> Option<(Self, &'a str)> {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(3);
        let (top, point) = (left.next()?, left.next()?);
        let mut right = right.split(' ');
        let unified = match right.next()? {
            "cgroup" => false,
            "cgroup2" => true,
            _ => return None,
        };
        Some((Self { top, point, unified }, right.nth(1)?))
    }

    /// The folders from `path` up to what is mounted. A cgroup that does not
    /// exist yet (the engine makes its parent with the first container) has
    /// no limits of its own: the walk begins above it.
    fn up_from(&self, root: &Root, path: &str) -> Vec<Place> {
        let below = Path::new(path).strip_prefix(self.top);
        // A path outside what is mounted is another namespace's: the top of
        // the mount is the nearest that can be seen.
        let below = below.unwrap_or(Path::new(""));
        let seen = |below: &Path| Place {
            dir: Path::new(self.point).join(below),
            name: Path::new(self.top).join(below).display().to_string(),
            unified: self.unified,
        };
        below
            .ancestors()
            .map(seen)
            .filter(|place| root.has(&place.dir))
            .collect()
    }
}
