use super::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a node can run right now (`platform.resource-offer@1`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResourceOffer {
    /// Stable over restarts.
    pub offer_id: String,
    /// What is offered, with the detail that its kind requires.
    #[serde(flatten)]
    pub kind: OfferKind,
    /// The node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<String>,
    /// Whose machine it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Absent for kind node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
    /// Where it stands.
    pub region: String,
    /// The cell within the region.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// How far it may be trusted.
    pub trust: Trust,
    /// `name:value`; `worker:<class>` is reserved.
    pub capabilities: Vec<String>,
    /// What is free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Capacity>,
    /// `<operation>_p50` and `_p95`, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<BTreeMap<String, f64>>,
    /// How it is.
    pub health: Health,
    /// What it costs.
    pub pricing: Pricing,
    /// When it was measured.
    #[serde(serialize_with = "rfc3339")]
    pub updated_at: Timestamp,
}

/// Kind and detail, together: neither can be there without the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", content = "detail", rename_all = "lowercase")]
pub enum OfferKind {
    /// A machine.
    Node,
}

/// How far a node may be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// The platform's own.
    FirstParty,
    /// A person's own machine.
    UserOwned,
    /// A partner's.
    Partner,
    /// The community's.
    Community,
    /// Anyone's.
    External,
}

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
    pub event_loop_lag_ms: Option<f64>,
}

/// Processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cpu {
    /// 0 to 1 over the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
    /// Neither busy, reserved, nor promised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_cores: Option<f64>,
}

/// Memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Memory {
    /// 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
    /// Megabytes of a million bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_mb: Option<f64>,
}

/// Physical uplinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Network {
    /// In use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress_mbps: Option<f64>,
    /// In use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress_mbps: Option<f64>,
    /// Line rate less what is in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_mbps: Option<f64>,
}

/// Disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Disk {
    /// Headroom from the device's counters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops_available: Option<f64>,
    /// Free less reserve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scratch_gb: Option<f64>,
    /// Space, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
}

/// The largest free device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Gpu {
    /// The device's name.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Megabytes of a million bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vram_free_mb: Option<f64>,
    /// 0 to 1; absent where the driver does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
}

/// One work queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Queue {
    /// Waiting jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u64>,
    /// Age of the oldest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest_ms: Option<f64>,
}

/// How the node is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Health {
    /// In a word.
    pub status: HealthStatus,
    /// `failed` among the last ended jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_rate: Option<f64>,
    /// The last probe.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "maybe_rfc3339"
    )]
    pub checked_at: Option<Timestamp>,
}

/// How the node is, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HealthStatus {
    /// Well.
    Up,
    /// Part of it does not work.
    Degraded,
    /// Send nothing.
    Down,
    /// Finishing what runs.
    Draining,
}

/// What it costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pricing {
    /// How it is counted.
    pub model: PricingModel,
    /// Dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marginal_usd_per_unit: Option<f64>,
    /// Of what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Where the prices stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_card: Option<String>,
}

/// How prices are counted.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum PricingModel {
    /// Paid before.
    Prepaid,
    /// By request.
    PerRequest,
    /// By byte.
    PerByte,
    /// By operation.
    PerOperation,
    /// By second.
    PerSecond,
    /// Free up to an allowance.
    FreeAllowance,
    /// Several of these.
    Mixed,
}

fn rfc3339<S: serde::Serializer>(
    at: &Timestamp,
    to: S,
) -> Result<S::Ok, S::Error> {
    to.serialize_str(&at.to_rfc3339())
}

fn maybe_rfc3339<S: serde::Serializer>(
    at: &Option<Timestamp>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => rfc3339(at, to),
        None => to.serialize_none(),
    }
}
