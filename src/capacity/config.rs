use std::path::PathBuf;
use std::time::Duration;

/// What the owner says about measuring.
#[derive(Clone, Debug, PartialEq)]
pub struct CapacityConfig {
    /// Where `/proc`, `/sys` and `/dev` lie: `/` in life.
    pub root: PathBuf,
    /// Between two snapshots (1 s).
    pub interval: Duration,
    /// Directories whose filesystems jobs write to: the engine's data root
    /// and the scratch. The one with the least room is what is offered.
    pub disks: Vec<PathBuf>,
    /// Interfaces that lead out; empty for every one with a device behind it.
    pub uplinks: Vec<String>,
    /// Million bits a second, where the owner knows better than the driver.
    pub line_mbps: Option<f64>,
    /// The cgroup under which the engine puts containers, as `/docker` or
    /// `/system.slice`. Where it is known, the limits on the way to it bind
    /// the jobs, and those of the daemon's own cgroup are only explained;
    /// where it is not, jobs are taken to live where the daemon does.
    pub jobs_cgroup: Option<String>,
    /// Names and paths of NVML, tried in this order.
    pub nvml: Vec<PathBuf>,
}

impl CapacityConfig {
    /// The name that every driver of today installs; the unversioned one is
    /// for compilers and often missing.
    pub const NVML: &'static str = "libnvidia-ml.so.1";
}

impl Default for CapacityConfig {
    fn default() -> Self {
        Self {
            root: PathBuf::from("/"),
            interval: Duration::from_secs(1),
            disks: Vec::new(),
            uplinks: Vec::new(),
            line_mbps: None,
            jobs_cgroup: None,
            nvml: vec![PathBuf::from(Self::NVML)],
        }
    }
}
