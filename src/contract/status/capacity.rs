use crate::contract::{Bytes, MilliCores, Timestamp};
use serde::{Deserialize, Serialize};

/// What the machine has and what of it is free. Absent is not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CapacityReport {
    /// When it was measured.
    #[serde(rename = "at_ms")]
    pub at: Timestamp,
    /// Processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<CpuReport>,
    /// Memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryReport>,
    /// The filesystem with the least room of those that jobs use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<DiskReport>,
    /// Physical uplinks together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkReport>,
    /// Every GPU that answered.
    pub gpus: Vec<GpuReport>,
    /// What could not be read and should have been, as sentences.
    pub warnings: Vec<String>,
}

/// Processor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuReport {
    /// Busy share of the last window, 0 to 1.
    pub utilization: f64,
    /// What this node may use in all.
    #[serde(rename = "total_millicores")]
    pub total: MilliCores,
    /// Neither busy, reserved, nor promised.
    #[serde(rename = "available_millicores")]
    pub available: MilliCores,
    /// What sets the total: `machine`, or a cgroup's path.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub bound_by: String,
}

/// Memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryReport {
    /// What this node may use in all.
    #[serde(rename = "total_bytes")]
    pub total: Bytes,
    /// Neither used, reserved, nor promised.
    #[serde(rename = "available_bytes")]
    pub available: Bytes,
    /// What sets the total: `machine`, or a cgroup's path.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub bound_by: String,
}

/// Disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DiskReport {
    /// Which directory was asked about.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// What there is.
    #[serde(rename = "total_bytes")]
    pub total: Bytes,
    /// Free less reserve.
    #[serde(rename = "free_bytes")]
    pub free: Bytes,
    /// Free inodes as a share, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inodes_free: Option<f64>,
    /// Operations a second still to be had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops_available: Option<f64>,
}

/// Physical uplinks, in million bits a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkReport {
    /// In use.
    pub ingress_mbps: f64,
    /// In use.
    pub egress_mbps: f64,
    /// Configured or measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_mbps: Option<f64>,
}

/// One GPU or MIG instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuReport {
    /// The driver's own id.
    pub uuid: String,
    /// The driver's own name.
    pub name: String,
    /// Its memory.
    #[serde(rename = "vram_total_bytes")]
    pub vram_total: Bytes,
    /// Its free memory.
    #[serde(rename = "vram_free_bytes")]
    pub vram_free: Bytes,
    /// Busy share, 0 to 1; absent where the driver does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
}
