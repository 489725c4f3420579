use super::check::Check;
use crate::contract::{Bytes, StatusDocument, Timestamp};
use crate::control::ControlClient;
use crate::node::config::{Config, GpuConfig};
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The daemon runs as root: it makes users of its own for jobs.
pub(super) fn user(uid: u32) -> Check {
    match uid {
        0 => Check::ok("user", "running as root"),
        uid => Check::fault(
            "user",
            format!("running as uid {uid}; the daemon must run as root"),
        )
        .fix("sudo ovnode doctor"),
    }
}

/// Version and controllers, from `cgroup.controllers` of a version 2 root
/// (absent on version 1) and `/proc/cgroups`.
pub(super) fn cgroup(v2: Option<&str>, v1: Option<&str>) -> Check {
    let name = "cgroup";
    let wanted = ["cpu", "memory", "pids"];
    let (version, on): (u8, Vec<&str>) = match (v2, v1) {
        (Some(controllers), _) => (2, controllers.split_whitespace().collect()),
        (None, Some(table)) => (1, enabled(table)),
        (None, None) => {
            return Check::fault(name, "no control groups can be read");
        }
    };
    let missing: Vec<_> =
        wanted.into_iter().filter(|name| !on.contains(name)).collect();
    if missing.is_empty() {
        return Check::ok(name, format!("version {version}"));
    }
    let missing = missing.join(", ");
    Check::fault(
        name,
        format!(
            "version {version}, but without {missing}: no job's limits \
                 could be kept; boot with cgroup_enable=memory"
        ),
    )
}

/// Rows of `/proc/cgroups` are name, hierarchy, cgroups, enabled.
fn enabled(table: &str) -> Vec<&str> {
    let rows = table.lines().filter(|row| !row.starts_with('#'));
    rows.map(|row| row.split_whitespace().collect::<Vec<_>>())
        .filter(|row| row.get(3) == Some(&"1"))
        .filter_map(|row| row.first().copied())
        .collect()
}

/// Ids of jobs carry wall time: a clock that is years off refuses them all.
pub(super) fn clock(now: Timestamp) -> Check {
    // 2025: this program is younger than that.
    const EARLIEST: Timestamp = Timestamp(1_735_689_600_000);
    // 2100: nobody's clock is right there yet.
    const LATEST: Timestamp = Timestamp(4_102_444_800_000);
    let at = now.to_rfc3339();
    if (EARLIEST..LATEST).contains(&now) {
        Check::ok("clock", at)
    } else {
        Check::fault(
            "clock",
            format!("{at} cannot be: every job would be refused for its age"),
        )
        .fix("timedatectl set-ntp true")
    }
}

/// What a directory's filesystem says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The directory, or the nearest above it that is there.
    pub(super) there: PathBuf,
    pub(super) writable: bool,
    pub(super) free: Option<Bytes>,
}

impl Place {
    fn of(dir: &Path) -> Self {
        let there = dir.ancestors().find(|it| it.is_dir());
        let there = there.unwrap_or(Path::new("/")).to_path_buf();
        let writable =
            rustix::fs::access(&there, rustix::fs::Access::WRITE_OK).is_ok();
        let free = rustix::fs::statvfs(&there)
            .ok()
            .map(|stat| Bytes(stat.f_bavail.saturating_mul(stat.f_frsize)));
        Self { there, writable, free }
    }
}

/// The state directory: what it must hold is the owner's reserve and, for
/// each slot, the rings of stdout and stderr that are preallocated.
pub(super) fn state(config: &Config) -> Check {
    let dir = &config.node.state_dir;
    let rings = config.classes.values().map(|class| {
        let slots = u64::from(class.slots);
        class.caps.output.0.saturating_mul(2).saturating_mul(slots)
    });
    let rings = rings.fold(0_u64, u64::saturating_add);
    judge_state(dir, &Place::of(dir), config.reserve.disk, Bytes(rings))
}

fn judge_state(
    dir: &Path,
    place: &Place,
    reserve: Bytes,
    rings: Bytes,
) -> Check {
    let (name, dir) = ("state", dir.display());
    if !place.writable {
        let there = place.there.display();
        let text = format!("`{there}` cannot be written by this user");
        return Check::fault(name, text);
    }
    let Some(free) = place.free else {
        return Check::fault(name, format!("`{dir}`: free space is unknown"));
    };
    if free < reserve {
        let text =
            format!("`{dir}`: {free} free, less than the reserve of {reserve}");
        return Check::fault(name, text);
    }
    if free.minus(reserve) < rings {
        let text = format!(
            "`{dir}`: {free} free; with every slot taken, output alone \
             needs {rings} beside the reserve of {reserve}"
        );
        return Check::warning(name, text);
    }
    Check::ok(name, format!("`{dir}`: {free} free"))
}

/// Whether the daemon answers at its socket.
pub(super) fn daemon(socket: &Path) -> Check {
    // A local connect is taken at once or refused at once.
    judge_daemon(socket, UnixStream::connect(socket).map_err(|e| e.kind()))
}

fn judge_daemon<T>(socket: &Path, reached: Result<T, ErrorKind>) -> Check {
    let (name, at) = ("daemon", socket.display());
    match reached {
        Ok(_) => Check::ok(name, format!("answers at `{at}`")),
        Err(ErrorKind::PermissionDenied) => Check::warning(
            name,
            format!("`{at}` is for root and the group `ovnode`"),
        )
        .fix("sudo groupadd -f ovnode && sudo usermod -aG ovnode $USER"),
        Err(_) => Check::warning(name, format!("nobody answers at `{at}`"))
            .fix("systemctl start ovnode"),
    }
}

/// The configured classes that a running daemon does not offer, and why.
pub(super) async fn withdrawn(socket: &Path) -> Vec<Check> {
    // Whoever does not answer is told of by `daemon`.
    let answer = ControlClient::new(socket).get("/v1/status").await;
    let status = answer
        .ok()
        .and_then(|json| serde_json::from_slice::<StatusDocument>(&json).ok());
    let classes = status.map(|it| it.classes).unwrap_or_default();
    let off = classes.into_iter().filter(|it| it.configured && !it.offered);
    let judged = off.map(|class| {
        let why = class.why_not.map(|why| why.text).unwrap_or_default();
        let name = format!("class {}", class.class);
        Check::fault(&name, format!("is not offered: {why}"))
    });
    judged.collect()
}

/// Whether NVML is where a GPU would need it.
pub(super) fn gpu(config: &GpuConfig) -> Check {
    let device = Path::new("/dev/nvidiactl").exists();
    let library = match config {
        GpuConfig::Off => return Check::ok("gpu", "not looked for"),
        GpuConfig::On { library: Some(path) } => {
            path.is_file().then(|| path.clone())
        }
        GpuConfig::On { library: None } => {
            NVML.map(PathBuf::from).into_iter().find(|path| path.is_file())
        }
    };
    let asked = matches!(config, GpuConfig::On { library: Some(_) });
    judge_gpu(device, library.as_deref(), asked)
}

/// Where distributions, and WSL, put the driver's library.
const NVML: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
    "/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
    "/usr/lib64/libnvidia-ml.so.1",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
];

fn judge_gpu(device: bool, library: Option<&Path>, asked: bool) -> Check {
    let name = "gpu";
    match (device, library) {
        (_, None) if asked => Check::fault(name, "`gpu.library` names no file"),
        (true, Some(library)) => {
            Check::ok(name, format!("NVML at `{}`", library.display()))
        }
        (true, None) => Check::warning(
            name,
            "there is an NVIDIA device, but no libnvidia-ml.so.1 where it \
             is usually put: say where under `gpu.library`",
        ),
        (false, _) => Check::ok(name, "none, which is normal"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::check::Outcome;

    #[test]
    fn a_cgroup_root_without_memory_keeps_no_limits() {
        let v1 = "#subsys_name hierarchy num_cgroups enabled\n\
                  cpu 2 1 1\nmemory 0 1 0\npids 3 1 1\n";
        assert_eq!(cgroup(None, Some(v1)).outcome, Outcome::Fault);
        let v1 = v1.replace("0 1 0", "4 1 1");
        assert_eq!(cgroup(None, Some(&v1)).text, "version 1");
        let v2 = cgroup(Some("cpuset cpu io memory pids\n"), Some(&v1));
        assert_eq!(v2.text, "version 2");
        assert_eq!(cgroup(None, None).outcome, Outcome::Fault);
    }

    #[test]
    fn a_clock_of_another_century_is_a_fault() {
        assert_eq!(clock(Timestamp(0)).outcome, Outcome::Fault);
        let now = clock(Timestamp(1_764_000_000_000));
        assert_eq!(now.outcome, Outcome::Ok);
    }

    #[test]
    fn a_full_disk_is_a_fault_and_a_tight_one_a_warning() {
        let outcome = |free, writable| {
            let free = Some(Bytes::mib(free));
            let place = Place { there: "/s".into(), writable, free };
            let (reserve, rings) = (Bytes::mib(1024), Bytes::mib(512));
            judge_state(Path::new("/s"), &place, reserve, rings).outcome
        };
        assert_eq!(outcome(1000, true), Outcome::Fault);
        assert_eq!(outcome(1300, true), Outcome::Warning);
        assert_eq!(outcome(2000, true), Outcome::Ok);
        assert_eq!(outcome(2000, false), Outcome::Fault);
    }

    #[test]
    fn a_daemon_that_does_not_run_is_no_fault_of_the_machine() {
        let socket = Path::new("/run/ovnode/control.sock");
        let refused = judge_daemon::<()>(socket, Err(ErrorKind::NotFound));
        assert_eq!(refused.outcome, Outcome::Warning);
        let denied =
            judge_daemon::<()>(socket, Err(ErrorKind::PermissionDenied));
        assert!(denied.fix.unwrap().contains("usermod"));
    }

    #[test]
    fn no_gpu_is_normal_and_a_gpu_without_its_library_is_told() {
        assert_eq!(judge_gpu(false, None, false).outcome, Outcome::Ok);
        assert_eq!(judge_gpu(true, None, false).outcome, Outcome::Warning);
        assert_eq!(judge_gpu(false, None, true).outcome, Outcome::Fault);
    }
}
