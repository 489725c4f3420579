use super::read::{At, Read, fields};
use super::{Amount, Ratio};
use serde::Serialize;
use std::collections::BTreeMap;

/// What is free; every part is absent where it is not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Capacity {
    /// Processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    /// Memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Physical uplinks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// The engine's data and the scratch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<Disk>,
    /// The largest free device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<Gpu>,
    /// Free slots by class, and the owner's declared kinds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<BTreeMap<String, u64>>,
    /// Work queues it pulls, by class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<BTreeMap<String, Queue>>,
    /// How late the daemon's own timers are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_loop_lag_ms: Option<Amount>,
}

/// Processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cpu {
    /// 0 to 1 over the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<Ratio>,
    /// Neither busy, reserved, nor promised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_cores: Option<Amount>,
}

/// Memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Memory {
    /// 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<Ratio>,
    /// Megabytes of a million bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_mb: Option<Amount>,
}

/// Physical uplinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Network {
    /// In use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress_mbps: Option<Amount>,
    /// In use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress_mbps: Option<Amount>,
    /// Line rate less what is in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_mbps: Option<Amount>,
}

/// Disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Disk {
    /// Headroom from the device's counters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops_available: Option<Amount>,
    /// Free less reserve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scratch_gb: Option<Amount>,
    /// Space, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<Ratio>,
}

/// The largest free device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Gpu {
    /// The device's name.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Megabytes of a million bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vram_free_mb: Option<Amount>,
    /// 0 to 1; absent where the driver does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<Ratio>,
}

/// One work queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Queue {
    /// Waiting jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u64>,
    /// Age of the oldest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest_ms: Option<Amount>,
}

impl Read for Capacity {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            cpu: may,
            memory: may,
            network: may,
            disk: may,
            gpu: may,
            workers: may,
            queues: may,
            event_loop_lag_ms: may,
        })
    }
}

impl Read for Cpu {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self { utilization: may, available_cores: may })
    }
}

impl Read for Memory {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self { utilization: may, available_mb: may })
    }
}

impl Read for Network {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            ingress_mbps: may,
            egress_mbps: may,
            available_mbps: may,
        })
    }
}

impl Read for Disk {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            iops_available: may,
            scratch_gb: may,
            utilization: may,
        })
    }
}

impl Read for Gpu {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            model: may "type",
            vram_free_mb: may,
            utilization: may,
        })
    }
}

impl Read for Queue {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self { depth: may, oldest_ms: may })
    }
}
