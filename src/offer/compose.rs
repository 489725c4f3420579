use super::figures::capacity;
use super::{
    Condition, Finding, OfferFacts, Statement, Verdict, compose_runtime,
};
use crate::contract::{
    Capability, Health, OfferKind, ResourceOffer, RuntimeClass, Timestamp,
};

/// The node's own offer. Whether it may be said at all is decided in
/// [`statements`].
pub fn compose(facts: &OfferFacts<'_>) -> ResourceOffer {
    compose_with(facts, &verdict(facts))
}

/// All offers of a moment, from one snapshot; none from a node that yields
/// its id to another.
pub fn statements(facts: &OfferFacts<'_>) -> Vec<Statement> {
    let verdict = verdict(facts);
    if !verdict.speaks {
        return Vec::new();
    }
    let runtimes = facts.plan.runtimes.iter();
    let runtimes = runtimes.map(|plan| compose_runtime(facts, plan, &verdict));
    std::iter::once(compose_with(facts, &verdict))
        .chain(runtimes)
        .map(|offer| Statement { offer, reasons: verdict.reasons.clone() })
        .collect()
}

/// What ails the node, by all that is known.
fn verdict(facts: &OfferFacts<'_>) -> Verdict {
    let mut findings = facts.view.findings.clone();
    if facts.is_fresh() {
        findings.extend(Finding::of(facts.snapshot));
    } else {
        let text = "no sample is fresh enough to be offered";
        findings.push(Finding::new(Condition::Unmeasured, text));
    }
    Verdict::of(&findings)
}

fn compose_with(facts: &OfferFacts<'_>, verdict: &Verdict) -> ResourceOffer {
    let latency = facts.latency;
    ResourceOffer {
        capabilities: capabilities(facts, verdict),
        capacity: Some(capacity(facts, verdict)),
        latency_ms: (!latency.is_empty()).then(|| latency.clone()),
        ..frame(facts, verdict, OfferKind::Node, None)
    }
}

/// What all offers of a node have in common.
pub(super) fn frame(
    facts: &OfferFacts<'_>,
    verdict: &Verdict,
    kind: OfferKind,
    name: Option<&str>,
) -> ResourceOffer {
    let who = &facts.plan.identity;
    ResourceOffer {
        offer_id: offer_id(facts, kind.name().as_str(), name),
        kind,
        node_id: Some(who.node.to_string()),
        provider: who.provider.clone(),
        adapter: None,
        region: who.region.to_string(),
        cell: who.cell.clone(),
        trust: who.trust,
        capabilities: Vec::new(),
        capacity: None,
        latency_ms: None,
        health: Health {
            status: verdict.status,
            error_rate: facts.view.error_rate,
            checked_at: facts.view.checked_at,
        },
        pricing: who.pricing.clone(),
        updated_at: measured_at(facts),
    }
}

/// `off_<node>_<kind>[_<name>]`: the same after every restart.
pub(super) fn offer_id(
    facts: &OfferFacts<'_>,
    kind: &str,
    name: Option<&str>,
) -> String {
    let node = &facts.plan.identity.node;
    match name {
        Some(name) => format!("off_{node}_{kind}_{name}"),
        None => format!("off_{node}_{kind}"),
    }
}

/// When what is offered was measured; where nothing measured is offered,
/// what is left (health, slots) is of now.
fn measured_at(facts: &OfferFacts<'_>) -> Timestamp {
    if facts.is_fresh() { facts.snapshot.at } else { facts.now.wall }
}

/// The reserved ones in the contract's order, then the owner's own.
fn capabilities(facts: &OfferFacts<'_>, verdict: &Verdict) -> Vec<Capability> {
    let classes = &facts.view.classes;
    let probed = |class: &RuntimeClass| {
        classes.get(class).is_some_and(|facts| facts.offered)
            && verdict.offers(*class)
    };
    let reserved = RuntimeClass::ALL.iter().copied().filter(probed);
    let declared = facts.plan.identity.capabilities.iter();
    let declared = declared.filter(|declared| !declared.is_reserved());
    reserved.map(RuntimeClass::capability).chain(declared.cloned()).collect()
}
