use super::Style;
use super::page::{Page, Tone};
use super::quantity::{GLUE, glued};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What people want to see of an offer. Read apart from the contract, as an
/// offer is shown as it was published, right or wrong.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(in crate::cli) struct OfferView {
    pub(in crate::cli) offer_id: String,
    pub(in crate::cli) kind: String,
    pub(in crate::cli) node_id: Option<String>,
    pub(in crate::cli) region: String,
    pub(in crate::cli) trust: String,
    pub(in crate::cli) capabilities: Vec<String>,
    pub(in crate::cli) capacity: CapacityView,
    pub(in crate::cli) health: HealthView,
    pub(in crate::cli) updated_at: String,
}

/// Its capacity.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(in crate::cli) struct CapacityView {
    pub(in crate::cli) cpu: CpuView,
    pub(in crate::cli) memory: MemoryView,
    pub(in crate::cli) workers: BTreeMap<String, u64>,
}

/// Its processor.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(in crate::cli) struct CpuView {
    pub(in crate::cli) available_cores: Option<f64>,
}

/// Its memory.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(in crate::cli) struct MemoryView {
    pub(in crate::cli) available_mb: Option<f64>,
}

/// Its health.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(in crate::cli) struct HealthView {
    pub(in crate::cli) status: String,
}

impl OfferView {
    /// What can be seen of an offer that was published as `json`.
    pub(in crate::cli) fn read(json: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(json)
    }
}

/// Offers, two rows each.
pub(in crate::cli) fn offers(of: &[OfferView], style: Style) -> String {
    let mut page = Page::new(style, 0);
    if of.is_empty() {
        page.row("", &[(Tone::Doubtful, "no offers are published")]);
    }
    for offer in of {
        row(&mut page, offer);
    }
    page.finish()
}

fn row(page: &mut Page, of: &OfferView) {
    let tone = match of.health.status.as_str() {
        "up" => Tone::Good,
        "degraded" | "draining" => Tone::Doubtful,
        _ => Tone::Bad,
    };
    page.row(
        "",
        &[
            (Tone::Strong, &of.offer_id),
            (tone, &of.health.status),
            (Tone::Plain, &of.trust),
            (Tone::Plain, &of.region),
            (Tone::Faint, &of.updated_at),
        ],
    );
    let indent = GLUE.to_string();
    page.row("", &[(Tone::Plain, &indent), (Tone::Plain, &free(of))]);
}

fn free(of: &OfferView) -> String {
    let mut free = Vec::new();
    if let Some(cores) = of.capacity.cpu.available_cores {
        free.push(glued(format!("{cores:.2} cores")));
    }
    if let Some(mb) = of.capacity.memory.available_mb {
        free.push(glued(format!("{mb:.0} MB")));
    }
    let workers = of.capacity.workers.iter();
    free.extend(workers.map(|(class, n)| glued(format!("{n} {class}"))));
    match free.is_empty() {
        true => "nothing is said to be free".to_owned(),
        false => format!("free: {}", free.join(", ")),
    }
}
