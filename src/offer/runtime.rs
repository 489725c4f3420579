use super::compose::{frame, offer_id};
use super::figures::free_slots;
use super::{OfferFacts, RuntimePlan, Verdict};
use crate::contract::{
    Availability, HealthStatus, OfferKind, ResourceOffer, RuntimeOffer,
};

/// An offer of a runtime: what the detail has no field for (slots, figures)
/// is the node's own offer's to say.
pub fn compose_runtime(
    facts: &OfferFacts<'_>,
    plan: &RuntimePlan,
    verdict: &Verdict,
) -> ResourceOffer {
    let who = &facts.plan.identity;
    let name = Some(plan.name.as_str());
    let detail = RuntimeOffer {
        id: offer_id(facts, "runtime", name),
        kind: plan.kind,
        region: who.region.to_string(),
        node: who.node.to_string(),
        limits: plan.limits,
        price: plan.price,
        availability: availability(facts, plan, verdict),
        constraints: plan.constraints.clone(),
    };
    frame(facts, verdict, OfferKind::Runtime(Box::new(detail)), name)
}

/// Limited is a node that would, and has no slot at the moment.
fn availability(
    facts: &OfferFacts<'_>,
    plan: &RuntimePlan,
    verdict: &Verdict,
) -> Availability {
    let class = facts.view.classes.get(&plan.class);
    let takes_work = match verdict.status {
        HealthStatus::Up | HealthStatus::Degraded => {
            verdict.gives(plan.class) && class.is_some_and(|c| c.offered)
        }
        HealthStatus::Down | HealthStatus::Draining => false,
    };
    if !takes_work {
        Availability::Unavailable
    } else if free_slots(facts, verdict, plan.class) == 0 {
        Availability::Limited
    } else {
        Availability::Available
    }
}
