use super::forms::is_capability;
use super::read::{At, Read, document, fields, one_or_more};
use super::words::form;
use super::{Amount, RuntimeClass, Timestamp};
use serde::Serialize;

/// What a machine is, said once (`platform.node-capabilities@1`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeCapabilities {
    /// The node.
    pub node_id: String,
    /// Processor.
    pub cpu: NodeCpu,
    /// Its architecture.
    pub arch: String,
    /// Megabytes of a million bytes.
    pub memory_mb: u64,
    /// Graphics processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu: Option<NodeGpu>,
    /// Disks.
    pub storage: NodeStorage,
    /// Uplinks.
    pub network: NodeNetwork,
    /// Where it stands; one at least.
    pub regions: Vec<String>,
    /// The owner's own words.
    pub tags: Vec<String>,
    /// What it costs.
    pub costs: NodeCosts,
    /// What it can do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<Capability>>,
    /// The daemon's version, at most 40 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_version: Option<String>,
    /// When it was said.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "Timestamp::write_maybe_rfc3339"
    )]
    pub updated_at: Option<Timestamp>,
}

document!(NodeCapabilities);

form! {
    /// What a node can do, `name:value`; `worker:<class>` is reserved.
    Capability: is_capability,
    "a capability (`name:value` in lower case)"
}

impl Capability {
    /// The reserved one of a class; advertised only for a class whose probe
    /// passed.
    pub(super) fn worker(class: RuntimeClass) -> Self {
        Self(format!("worker:{class}"))
    }

    /// Whether it is one of the reserved ones, which no owner may declare.
    pub fn is_reserved(&self) -> bool {
        let class = self.0.strip_prefix("worker:");
        class.and_then(RuntimeClass::from_name).is_some()
    }
}

/// Processor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NodeCpu {
    /// Cores.
    pub cores: Amount,
    /// Threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
}

/// Graphics processors, of one model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeGpu {
    /// The model.
    pub model: String,
    /// How many.
    pub count: u64,
    /// Megabytes of a million bytes, each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vram_mb: Option<u64>,
}

/// Disks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeStorage {
    /// In all.
    pub capacity_gb: Amount,
    /// Free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_gb: Option<Amount>,
    /// As `ssd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// Uplinks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NodeNetwork {
    /// In.
    pub ingress_mbps: Amount,
    /// Out.
    pub egress_mbps: Amount,
}

/// What a machine costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NodeCosts {
    /// Dollars an hour.
    pub per_hour_usd: Amount,
    /// Dollars for what leaves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress_per_gb_usd: Option<Amount>,
}

impl Read for NodeCapabilities {
    fn read(at: At<'_>) -> Option<Self> {
        let short = |text: &str| text.chars().nth(40).is_none();
        fields!(at => Self {
            node_id: need,
            cpu: need,
            arch: need,
            memory_mb: need,
            gpu: may,
            storage: need,
            network: need,
            regions: need_with (one_or_more),
            tags: need,
            costs: need,
            capabilities: may,
            agent_version: may_with (|at| at.form(short, "40 characters at most")),
            updated_at: may_with (Timestamp::read_rfc3339),
        })
    }
}

impl Read for NodeCpu {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self { cores: need, threads: may })
    }
}

impl Read for NodeGpu {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self { model: need, count: need, vram_mb: may })
    }
}

impl Read for NodeStorage {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            capacity_gb: need,
            available_gb: may,
            kind: may,
        })
    }
}

impl Read for NodeNetwork {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self { ingress_mbps: need, egress_mbps: need })
    }
}

impl Read for NodeCosts {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self { per_hour_usd: need, egress_per_gb_usd: may })
    }
}
