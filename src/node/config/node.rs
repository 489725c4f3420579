use super::section::Section;
use crate::contract::{
    Capability, NodeId, Pricing, PricingModel, RuntimeClass, Token, Trust,
};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Who the node is and what it says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeConfig {
    /// Its id as joining gave it; without one it is made once and kept.
    pub id: Option<NodeId>,
    /// Where it stands; a token of the subjects it publishes on.
    pub region: Token,
    /// The cell within the region.
    pub cell: Option<String>,
    /// Whose machine it is.
    pub provider: Option<String>,
    /// How far it may be trusted; a token of the subjects too.
    pub trust: Trust,
    /// Declared capabilities, `name:value`, never a reserved one.
    pub capabilities: Vec<Capability>,
    /// Worker kinds of the owner's own, and how many of each.
    pub worker_kinds: BTreeMap<String, u64>,
    /// Where the node keeps what must outlive it.
    pub state_dir: PathBuf,
    /// What it costs.
    pub pricing: Pricing,
}

/// Reads `[node]` and `[pricing]`.
pub(super) fn read(root: &mut Section<'_>) -> Option<NodeConfig> {
    let pricing = pricing(root.section("pricing"));
    let mut node = root.section("node");
    let id = node.opt("id");
    let local = Token::try_from("local".to_owned()).ok()?;
    let region = node.or("region", local);
    let cell = node.opt("cell");
    let provider = node.opt("provider");
    let trust =
        node.word("trust", (&Trust::WORDS, Trust::from_name), "user-owned");
    let capabilities = node.or("capabilities", Vec::new());
    capabilities_are_declarable(&node, &capabilities);
    let worker_kinds = node.or("worker_kinds", BTreeMap::new());
    kinds_are_declarable(&node, &worker_kinds);
    let state_dir = node.or("state_dir", PathBuf::from("/var/lib/ovnode"));
    node.done();
    Some(NodeConfig {
        id,
        region,
        cell,
        provider,
        trust: trust?,
        capabilities,
        worker_kinds,
        state_dir,
        pricing: pricing?,
    })
}

fn pricing(mut section: Section<'_>) -> Option<Pricing> {
    let model = section.word(
        "model",
        (&PricingModel::WORDS, PricingModel::from_name),
        "free-allowance",
    );
    let marginal_usd_per_unit = section.opt("marginal_usd_per_unit");
    let unit = section.opt("unit");
    let rate_card = section.opt("rate_card");
    if marginal_usd_per_unit.is_some() && unit.is_none() {
        let missing = "says no price without `pricing.unit`: of what?";
        section.fault("marginal_usd_per_unit", missing);
    }
    section.done();
    Some(Pricing { model: model?, marginal_usd_per_unit, unit, rate_card })
}

fn capabilities_are_declarable(node: &Section<'_>, declared: &[Capability]) {
    for (at, capability) in declared.iter().enumerate() {
        if capability.is_reserved() {
            let message = format!(
                "`{capability}` is reserved: a class is advertised when its \
                 probe passes, never because someone says so"
            );
            node.fault("capabilities", message);
        } else if declared[..at].contains(capability) {
            node.fault("capabilities", format!("`{capability}` is twice"));
        }
    }
}

fn kinds_are_declarable(node: &Section<'_>, kinds: &BTreeMap<String, u64>) {
    for name in kinds.keys() {
        let bare = name.strip_prefix("worker:").unwrap_or(name);
        if RuntimeClass::from_name(bare).is_some() {
            let message = format!(
                "`{name}` is reserved: give the class its slots under \
                 `[class.{bare}]`"
            );
            node.fault("worker_kinds", message);
        } else if Token::try_from(name.clone()).is_err() {
            let message = format!("`{name}` is no name for a worker kind");
            node.fault("worker_kinds", message);
        }
    }
}
