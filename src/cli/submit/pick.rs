use crate::cli::render::OfferView;
use crate::contract::{NodeId, RuntimeClass};

/// Offers of a person's own machine; never chosen unless asked for.
const USER_OWNED: &str = "user-owned";

/// What a job wants of a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    pub(super) class: RuntimeClass,
    /// The trust that was named, if any.
    pub(super) trust: Option<&'a str>,
}

/// Why no node is chosen, as a sentence with numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoNode {
    #[error(
        "no node is heard: is a node running, and are these the right server \
         and prefix?"
    )]
    Silence,
    #[error(
        "none of {heard} nodes takes a {class} job now: {untrusted} of another \
         trust{hint}, {without} without the class, {unwell} not up, {full} \
         without a free slot"
    )]
    Unfit {
        heard: usize,
        class: RuntimeClass,
        untrusted: usize,
        hint: &'static str,
        without: usize,
        unwell: usize,
        full: usize,
    },
    #[error(
        "node {node} is not heard, so its trust is not known: say it with \
         `--trust`"
    )]
    Unheard { node: NodeId },
    #[error(
        "node {node} is user-owned: a job goes there only with `--trust \
         user-owned`"
    )]
    UserOwned { node: NodeId },
}

/// The node that takes the job: of those that fit, the one with the most
/// free slots, then the most free cores.
pub(super) fn pick(
    offers: &[OfferView],
    wanted: Wanted<'_>,
) -> Result<NodeId, NoNode> {
    let nodes: Vec<_> = nodes(offers).collect();
    if nodes.is_empty() {
        return Err(NoNode::Silence);
    }
    let fit = nodes.iter().filter(|(offer, _)| flaw(offer, wanted).is_none());
    let best = fit.max_by(|(a, _), (b, _)| {
        let slots = slots(a, wanted.class).cmp(&slots(b, wanted.class));
        slots.then(cores(a).total_cmp(&cores(b)))
    });
    match best {
        Some((_, node)) => Ok(node.clone()),
        None => Err(unfit(&nodes, wanted)),
    }
}

/// Whether a node that was named, without a trust, may get the job.
pub(super) fn allow(offers: &[OfferView], node: &NodeId) -> Result<(), NoNode> {
    let node = node.clone();
    match nodes(offers).find(|(_, offered)| *offered == node) {
        None => Err(NoNode::Unheard { node }),
        Some((offer, _)) if offer.trust == USER_OWNED => {
            Err(NoNode::UserOwned { node })
        }
        Some(_) => Ok(()),
    }
}

/// Machines among the offers, by the id that subjects take.
fn nodes(offers: &[OfferView]) -> impl Iterator<Item = (&OfferView, NodeId)> {
    offers.iter().filter(|offer| offer.kind == "node").filter_map(|offer| {
        let id = offer.node_id.clone()?;
        Some((offer, NodeId::try_from(id).ok()?))
    })
}

/// Why a node does not fit: the first thing that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    Untrusted,
    Without,
    Unwell,
    Full,
}

fn flaw(offer: &OfferView, wanted: Wanted<'_>) -> Option<Flaw> {
    let trusted = match wanted.trust {
        Some(trust) => offer.trust == trust,
        None => offer.trust != USER_OWNED,
    };
    if !trusted {
        Some(Flaw::Untrusted)
    } else if offer.health.status != "up" {
        Some(Flaw::Unwell)
    } else if !offer
        .capabilities
        .iter()
        .any(|it| *it == *wanted.class.capability().as_str())
    {
        Some(Flaw::Without)
    } else if slots(offer, wanted.class) == 0 {
        Some(Flaw::Full)
    } else {
        None
    }
}

fn unfit(nodes: &[(&OfferView, NodeId)], wanted: Wanted<'_>) -> NoNode {
    let with = |kind| {
        let flaws = nodes.iter().map(|(offer, _)| flaw(offer, wanted));
        flaws.filter(|flaw| *flaw == Some(kind)).count()
    };
    let untrusted = with(Flaw::Untrusted);
    let unasked = wanted.trust.is_none() && untrusted > 0;
    NoNode::Unfit {
        heard: nodes.len(),
        class: wanted.class,
        untrusted,
        hint: if unasked { " (try `--trust user-owned`)" } else { "" },
        without: with(Flaw::Without),
        unwell: with(Flaw::Unwell),
        full: with(Flaw::Full),
    }
}

fn slots(offer: &OfferView, class: RuntimeClass) -> u64 {
    offer.capacity.workers.get(class.as_str()).copied().unwrap_or_default()
}

fn cores(offer: &OfferView) -> f64 {
    offer.capacity.cpu.available_cores.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: &str, trust: &str, slots: u64) -> OfferView {
        let json = format!(
            r#"{{"kind": "node", "node_id": "{id}", "trust": "{trust}",
                "capabilities": ["worker:code"],
                "capacity": {{"workers": {{"code": {slots}}}}},
                "health": {{"status": "up"}}}}"#
        );
        OfferView::read(json.as_bytes()).unwrap()
    }

    fn code(trust: Option<&str>) -> Wanted<'_> {
        Wanted { class: RuntimeClass::Code, trust }
    }

    fn named(id: &str) -> NodeId {
        NodeId::try_from(id.to_owned()).unwrap()
    }

    #[test]
    fn the_node_with_the_most_free_slots_is_chosen() {
        let offers = [node("a", "partner", 1), node("b", "partner", 3)];
        assert_eq!(pick(&offers, code(None)), Ok(named("b")));
    }

    #[test]
    fn a_user_owned_node_is_chosen_only_when_asked_for() {
        let offers = [node("a", "user-owned", 4), node("b", "partner", 1)];
        assert_eq!(pick(&offers, code(None)), Ok(named("b")));
        assert_eq!(pick(&offers, code(Some("user-owned"))), Ok(named("a")));
        assert!(pick(&offers[..1], code(None)).is_err());
    }

    #[test]
    fn nodes_that_are_not_up_full_or_without_the_class_are_passed_over() {
        let mut down = node("a", "partner", 1);
        down.health.status = "degraded".to_owned();
        let mut without = node("b", "partner", 1);
        without.capabilities.clear();
        let offers = [
            down,
            without,
            node("c", "partner", 0),
            node("d", "user-owned", 1),
        ];
        assert_eq!(
            pick(&offers, code(None)).unwrap_err().to_string(),
            "none of 4 nodes takes a code job now: 1 of another trust (try \
             `--trust user-owned`), 1 without the class, 1 not up, 1 without \
             a free slot"
        );
    }

    #[test]
    fn offers_of_other_kinds_and_ids_that_are_no_tokens_are_not_nodes() {
        let mut runtime = node("a", "partner", 1);
        runtime.kind = "runtime".to_owned();
        let offers = [runtime, node("a.>", "partner", 1)];
        assert_eq!(pick(&offers, code(None)), Err(NoNode::Silence));
    }

    #[test]
    fn a_named_node_must_be_known_not_to_be_user_owned_or_its_trust_said() {
        let offers = [node("a", "user-owned", 1), node("b", "partner", 0)];
        let a = named("a");
        assert_eq!(
            allow(&offers, &a),
            Err(NoNode::UserOwned { node: a.clone() })
        );
        assert_eq!(allow(&offers, &named("b")), Ok(()));
        let c = named("c");
        assert_eq!(
            allow(&offers, &c),
            Err(NoNode::Unheard { node: c.clone() })
        );
    }
}
