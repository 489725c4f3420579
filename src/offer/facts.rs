use super::Finding;
use crate::capacity::Snapshot;
use crate::contract::{
    Amount, Bytes, Capability, MilliCores, NodeId, Now, Pricing, Queue, Ratio,
    Reason, ResourceOffer, RuntimeClass, RuntimeKind, RuntimeLimits,
    RuntimePrice, Timestamp, Token, Trust,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// What the owner lets be offered: parsed from the config, never changed.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferPlan {
    /// Who offers.
    pub identity: Identity,
    /// What the owner keeps.
    pub reserve: Reserve,
    /// Runtime offers beside the node's own; none unless configured.
    pub runtimes: Vec<RuntimePlan>,
    /// Between two offers when nothing changed (10 s).
    pub interval: Duration,
    /// Samples older than this are offered no more (5 s at one a second).
    pub stale: Duration,
}

/// Who offers: the same in every offer.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity {
    /// The node.
    pub node: NodeId,
    /// Where it stands.
    pub region: Token,
    /// The cell within the region.
    pub cell: Option<String>,
    /// Whose machine it is.
    pub provider: Option<String>,
    /// How far it may be trusted.
    pub trust: Trust,
    /// The owner's own words. A reserved one is left out, as only a probe
    /// can prove it.
    pub capabilities: Vec<Capability>,
    /// The owner's own kinds of workers. A class's name is left out.
    pub workers: BTreeMap<String, u64>,
    /// What it costs.
    pub pricing: Pricing,
}

/// What the owner keeps of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reserve {
    /// Processor.
    pub cpu: MilliCores,
    /// Memory.
    pub memory: Bytes,
    /// Disk.
    pub disk: Bytes,
}

/// One runtime offer.
#[derive(Clone, Debug, PartialEq)]
pub struct RuntimePlan {
    /// The last part of its offer id.
    pub name: Token,
    /// The class that runs it.
    pub class: RuntimeClass,
    /// What it is called in the contract.
    pub kind: RuntimeKind,
    /// What one run may have.
    pub limits: RuntimeLimits,
    /// What it costs.
    pub price: RuntimePrice,
    /// Whatever else binds it, in words.
    pub constraints: Vec<String>,
}

/// What the side of the jobs knows at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobView {
    /// What running jobs were promised, and what of that they use.
    pub promised: Promised,
    /// Every class configured here.
    pub classes: BTreeMap<RuntimeClass, ClassFacts>,
    /// What ails the node; none is well.
    pub findings: Vec<Finding>,
    /// `failed` among the last ended jobs.
    pub error_rate: Option<Ratio>,
    /// The last probe.
    pub checked_at: Option<Timestamp>,
    /// UUIDs of the GPUs that jobs hold.
    pub leased_gpus: BTreeSet<String>,
    /// Work queues it pulls, by class.
    pub queues: BTreeMap<RuntimeClass, Queue>,
}

/// What running jobs were promised. What they use of it is busy already and
/// is not counted twice; where it is not known, 0 errs on the safe side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promised {
    /// Processor of their slots.
    pub cpu: MilliCores,
    /// What of it they use.
    pub cpu_used: MilliCores,
    /// Memory of their slots.
    pub memory: Bytes,
    /// What of it they use.
    pub memory_used: Bytes,
}

/// One class at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassFacts {
    /// Whether its probe passed.
    pub offered: bool,
    /// Slots without a job.
    pub free: u32,
    /// What one job of it is promised.
    pub memory: Bytes,
}

/// All that is known at one moment.
#[derive(Clone, Copy, Debug)]
pub struct OfferFacts<'a> {
    /// What the owner lets be offered.
    pub plan: &'a OfferPlan,
    /// What was measured.
    pub snapshot: &'a Snapshot,
    /// What the side of the jobs knows.
    pub view: &'a JobView,
    /// How long operations took, milliseconds.
    pub latency: &'a BTreeMap<String, Amount>,
    /// When this is.
    pub now: Now,
}

impl OfferFacts<'_> {
    /// Whether the snapshot is of this moment and not of an earlier one.
    pub(super) fn is_fresh(&self) -> bool {
        let age = self.now.boot.0.saturating_sub(self.snapshot.taken.0);
        self.snapshot.at != Timestamp(0)
            && Duration::from_millis(age) <= self.plan.stale
    }
}

/// An offer and what the contracts have no field for.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The document.
    pub offer: ResourceOffer,
    /// `Ov-Reason` headers.
    pub reasons: Vec<Reason>,
}
