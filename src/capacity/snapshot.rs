use super::reading::Reading;
use crate::contract::{BootMs, Bytes, MilliCores, Now, Ratio, Timestamp};
use std::fmt;

/// All samples of one moment: absent is not known, never zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// When it was measured.
    pub at: Timestamp,
    /// The same moment on a clock that nobody sets and no sleep stops: what
    /// tells its age.
    pub taken: BootMs,
    /// Absent until two readings exist.
    pub cpu: Option<CpuSample>,
    /// Memory.
    pub memory: Option<MemorySample>,
    /// Physical uplinks; absent until two readings exist.
    pub network: Option<NetworkSample>,
    /// The engine's data root and the scratch.
    pub disk: Option<DiskSample>,
    /// Every GPU that answered, by UUID.
    pub gpus: Vec<GpuSample>,
    /// How late the daemon's own timer was; absent outside the daemon.
    pub event_loop_lag_ms: Option<f64>,
    /// What could not be read and should have been: the node is degraded.
    pub warnings: Vec<Remark>,
    /// What explains the samples and is no fault.
    pub notes: Vec<Remark>,
}

impl Snapshot {
    pub(super) fn begun(now: Now) -> Self {
        Self { at: now.wall, taken: now.boot, ..Self::default() }
    }

    /// Keeps what a reading has to say and hands out its value.
    pub(super) fn take<T>(
        &mut self,
        resource: Resource,
        reading: Reading<T>,
    ) -> Option<T> {
        let remark = |text| Remark { resource, text };
        self.warnings.extend(reading.warnings.into_iter().map(remark));
        self.notes.extend(reading.notes.into_iter().map(remark));
        reading.value
    }
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Processor.
    Cpu,
    /// Memory.
    Memory,
    /// Uplinks.
    Network,
    /// Filesystems.
    Disk,
    /// GPUs.
    Gpu,
}

impl Resource {
    /// Its name in a sentence.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Network => "network",
            Self::Disk => "disk",
            Self::Gpu => "gpu",
        }
    }
}

/// Something to say about a resource, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// About what.
    pub resource: Resource,
    /// One sentence without a full stop.
    pub text: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.resource.as_str(), self.text)
    }
}

/// Processor, as far as jobs may use it.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuSample {
    /// Busy share of the window, over the processors that jobs may use.
    pub utilization: Ratio,
    /// What there is: the lowest of online, cpuset and quota.
    pub total: MilliCores,
    /// What of it nobody used over the window. A quota is a share of a
    /// machine that others use too, so this is not `total` times idle.
    pub free: MilliCores,
    /// What bound it: the machine, or a cgroup's path.
    pub bound_by: String,
}

/// Memory, as far as jobs may use it.
#[derive(Clone, Debug, PartialEq)]
pub struct MemorySample {
    /// What there is: the lower of the machine's and the cgroup's.
    pub total: Bytes,
    /// What could be had without swapping.
    pub available: Bytes,
    /// What bound it: the machine, or a cgroup's path.
    pub bound_by: String,
}

/// Physical uplinks together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkSample {
    /// Million bits a second.
    pub ingress_mbps: f64,
    /// Million bits a second.
    pub egress_mbps: f64,
    /// Configured or read; absent where neither is known.
    pub line_mbps: Option<f64>,
}

/// The filesystem with the least room of those that jobs use.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskSample {
    /// Which directory it was asked for.
    pub path: std::path::PathBuf,
    /// What there is.
    pub total: Bytes,
    /// What an unprivileged user could still write.
    pub free: Bytes,
    /// Free inodes as a share; absent where the filesystem has no count.
    pub inodes_free: Option<Ratio>,
    /// Operations a second still to be had, from the device's counters.
    pub iops_available: Option<f64>,
}

/// One GPU (or MIG instance).
#[derive(Clone, Debug, PartialEq)]
pub struct GpuSample {
    /// Never an index: those shift.
    pub uuid: String,
    /// As the driver names it.
    pub name: String,
    /// Its memory.
    pub vram_total: Bytes,
    /// Its free memory.
    pub vram_free: Bytes,
    /// Absent where the driver does not say.
    pub utilization: Option<Ratio>,
}
