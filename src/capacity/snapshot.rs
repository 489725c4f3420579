use crate::contract::{Bytes, MilliCores, Ratio, Timestamp};

/// All samples of one moment: absent is not known, never zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// When it was measured.
    pub at: Timestamp,
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
    /// What could not be read and should have been, as sentences.
    pub warnings: Vec<String>,
}

/// Processor, as far as this node may use it.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuSample {
    /// Busy share of the window.
    pub utilization: Ratio,
    /// What there is: the lower of the machine's and the cgroup's.
    pub total: MilliCores,
    /// What bound it: the machine, or a cgroup's path.
    pub bound_by: String,
}

/// Memory, as far as this node may use it.
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
