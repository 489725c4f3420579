use super::read::{At, Object, Read, document, fields};
use super::words::words;
use super::{
    AgentOffer, Amount, Capability, Capacity, DeliveryOffer, FaultKind,
    HarnessOffer, Ratio, RuntimeOffer, StorageOffer, Subjects, Timestamp,
    Token,
};
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
    pub capabilities: Vec<Capability>,
    /// What is free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Capacity>,
    /// `<operation>_p50` and `_p95`, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<BTreeMap<String, Amount>>,
    /// How it is.
    pub health: Health,
    /// What it costs.
    pub pricing: Pricing,
    /// When it was measured.
    #[serde(serialize_with = "Timestamp::write_rfc3339")]
    pub updated_at: Timestamp,
}

/// Kind and detail, together: neither can be there without the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", content = "detail", rename_all = "lowercase")]
pub enum OfferKind {
    /// A machine.
    Node,
    /// A provider of machines.
    Provider,
    /// Storage.
    Storage(Box<StorageOffer>),
    /// Delivery.
    Delivery(Box<DeliveryOffer>),
    /// A runtime.
    Runtime(Box<RuntimeOffer>),
    /// An agent.
    Agent(Box<AgentOffer>),
    /// A coding agent's harness.
    Harness(Box<HarnessOffer>),
}

words! {
    /// An offer's kind without its detail, as in subjects and configs.
    OfferKindName {
        /// A machine.
        Node = "node",
        /// A provider of machines.
        Provider = "provider",
        /// Storage.
        Storage = "storage",
        /// Delivery.
        Delivery = "delivery",
        /// A runtime.
        Runtime = "runtime",
        /// An agent.
        Agent = "agent",
        /// A coding agent's harness.
        Harness = "harness",
    }
}

words! {
    /// How far a node may be trusted.
    Trust {
        /// The platform's own.
        FirstParty = "first-party",
        /// A person's own machine.
        UserOwned = "user-owned",
        /// A partner's.
        Partner = "partner",
        /// The community's.
        Community = "community",
        /// Anyone's.
        External = "external",
    }
}

/// How the node is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Health {
    /// In a word.
    pub status: HealthStatus,
    /// `failed` among the last ended jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_rate: Option<Ratio>,
    /// The last probe.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "Timestamp::write_maybe_rfc3339"
    )]
    pub checked_at: Option<Timestamp>,
}

words! {
    /// How the node is, in a word.
    HealthStatus {
        /// Well.
        Up = "up",
        /// Part of it does not work.
        Degraded = "degraded",
        /// Send nothing.
        Down = "down",
        /// Finishing what runs.
        Draining = "draining",
    }
}

/// What it costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pricing {
    /// How it is counted.
    pub model: PricingModel,
    /// Dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marginal_usd_per_unit: Option<Amount>,
    /// Of what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Where the prices stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_card: Option<String>,
}

words! {
    /// How prices are counted.
    PricingModel {
        /// Paid before.
        Prepaid = "prepaid",
        /// By request.
        PerRequest = "per-request",
        /// By byte.
        PerByte = "per-byte",
        /// By operation.
        PerOperation = "per-operation",
        /// By second.
        PerSecond = "per-second",
        /// Free up to an allowance.
        FreeAllowance = "free-allowance",
        /// Several of these.
        Mixed = "mixed",
    }
}

document!(ResourceOffer);

impl ResourceOffer {
    /// The subject it is said on,
    /// `P.offer.<trust>.<kind>.<region>.<node>.<offer_id>`; `None` where it
    /// names no node, or one of the names is no token.
    pub fn subject(&self, subjects: &Subjects) -> Option<String> {
        let parts = self.subject_parts()?;
        let tokens = parts.iter().all(|part| {
            // Trust and kind are words of the contract, and tokens.
            Token::try_from((*part).to_owned()).is_ok()
        });
        tokens.then(|| subjects.offer(parts))
    }

    /// Whether it says of itself what the subject it came on says. A reader
    /// believes the subject, which permissions pin, and drops the others.
    pub fn agrees_with(&self, subject: &str) -> bool {
        self.subject_parts().is_some_and(|own| Subjects::is_offer(subject, own))
    }

    fn subject_parts(&self) -> Option<[&str; 5]> {
        let node = self.node_id.as_deref()?;
        let kind = self.kind.name().as_str();
        Some([self.trust.as_str(), kind, &self.region, node, &self.offer_id])
    }
}

impl OfferKind {
    /// The kind without its detail.
    pub fn name(&self) -> OfferKindName {
        match self {
            Self::Node => OfferKindName::Node,
            Self::Provider => OfferKindName::Provider,
            Self::Storage(_) => OfferKindName::Storage,
            Self::Delivery(_) => OfferKindName::Delivery,
            Self::Runtime(_) => OfferKindName::Runtime,
            Self::Agent(_) => OfferKindName::Agent,
            Self::Harness(_) => OfferKindName::Harness,
        }
    }

    fn read(object: &mut Object<'_>, key: &'static str) -> Option<Self> {
        const DETAIL: &str = "detail";
        let Some(name) = object.need(key) else {
            // Of an unknown kind no more can be said of the detail.
            object.may_with(DETAIL, |at| at.map().map(|_| ()));
            return None;
        };
        match name {
            OfferKindName::Node => {
                object.may_with(DETAIL, no_detail)?;
                Some(Self::Node)
            }
            OfferKindName::Provider => {
                object.may_with(DETAIL, no_detail)?;
                Some(Self::Provider)
            }
            OfferKindName::Storage => object.need(DETAIL).map(Self::Storage),
            OfferKindName::Delivery => object.need(DETAIL).map(Self::Delivery),
            OfferKindName::Runtime => object.need(DETAIL).map(Self::Runtime),
            OfferKindName::Agent => object.need(DETAIL).map(Self::Agent),
            OfferKindName::Harness => object.need(DETAIL).map(Self::Harness),
        }
    }
}

fn no_detail(at: At<'_>) -> Option<()> {
    let message = "must be absent for an offer of this kind".to_owned();
    at.fault(FaultKind::UnknownKey, message);
    None
}

impl Read for ResourceOffer {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            offer_id: need,
            kind: also (OfferKind::read),
            node_id: may,
            provider: may,
            adapter: may,
            region: need,
            cell: may,
            trust: need,
            capabilities: need,
            capacity: may,
            latency_ms: may,
            health: need,
            pricing: need,
            updated_at: need_with (Timestamp::read_rfc3339),
        })
    }
}

impl Read for Health {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            status: need,
            error_rate: may,
            checked_at: may_with (Timestamp::read_rfc3339),
        })
    }
}

impl Read for Pricing {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            model: need,
            marginal_usd_per_unit: may,
            unit: may,
            rate_card: may,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(region: &str) -> ResourceOffer {
        let json = format!(
            r#"{{"offer_id": "off_n1_node", "kind": "node", "node_id": "n1",
            "region": "{region}", "trust": "user-owned", "capabilities": [],
            "health": {{"status": "up"}}, "pricing": {{"model": "mixed"}},
            "updated_at": "2026-03-01T12:00:00Z"}}"#
        );
        ResourceOffer::parse(json.as_bytes()).expect("an offer")
    }

    fn subjects() -> Subjects {
        let prefix = Token::try_from("ov".to_owned()).expect("a token");
        Subjects::new(prefix)
    }

    #[test]
    fn an_offer_agrees_with_its_own_subject_alone() {
        let eu = offer("eu");
        let subject = eu.subject(&subjects()).expect("a subject");
        assert_eq!(subject, "ov.offer.user-owned.node.eu.n1.off_n1_node");
        assert!(eu.agrees_with(&subject));
        for other in [
            "ov.offer.first-party.node.eu.n1.off_n1_node",
            "ov.offer.user-owned.runtime.eu.n1.off_n1_node",
            "ov.offer.user-owned.node.us.n1.off_n1_node",
            "ov.offer.user-owned.node.eu.n2.off_n1_node",
            "ov.offer.user-owned.node.eu.n1.off_n1",
            "ov.offer.user-owned.node.eu.n1",
            "ov.offer.user-owned.node.eu.n1.off_n1_node.more",
            "ov.work.user-owned.node.eu.n1.off_n1_node",
        ] {
            assert!(!eu.agrees_with(other), "{other}");
        }
    }

    #[test]
    fn a_name_that_is_no_token_has_no_subject_and_agrees_with_none() {
        for region in ["", "eu.west", "*", "e u"] {
            assert_eq!(offer(region).subject(&subjects()), None);
        }
        let west = offer("eu.west");
        let split = "ov.offer.user-owned.node.eu.west.n1.off_n1_node";
        assert!(!west.agrees_with(split));
    }

    #[test]
    fn an_offer_of_a_node_has_no_detail() {
        let mut node = serde_json::to_value(offer("eu")).expect("JSON");
        assert_eq!(node.get("detail"), None);
        node["detail"] = serde_json::json!({});
        let text = node.to_string();
        let faults = ResourceOffer::parse(text.as_bytes()).expect_err("one");
        assert_eq!(faults.0[0].path, "/detail");
        assert_eq!(faults.0[0].kind, FaultKind::UnknownKey);
    }
}
