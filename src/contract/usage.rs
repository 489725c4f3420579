use super::forms::is_project_id;
use super::read::{At, Read, document, fields};
use super::words::form;
use super::{Amount, Timestamp};
use serde::Serialize;

/// One thing used, as it is billed (`platform.usage-sample@1`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UsageSample {
    /// Its id.
    pub id: String,
    /// Samples of one key count once.
    pub idempotency_key: String,
    /// Of which service.
    pub service: String,
    /// For which project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// By whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What was used; a job's id, for a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// Whose it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// On which node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// In which cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// In which region.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Doing what.
    pub operation: String,
    /// How much.
    pub quantity: Amount,
    /// Of what.
    pub unit: String,
    /// When.
    #[serde(serialize_with = "Timestamp::write_rfc3339")]
    pub at: Timestamp,
    /// Dollars, about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_estimate: Option<Amount>,
    /// How much of it was free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_allowance_used: Option<Amount>,
    /// Vibes taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vibes_charged: Option<u64>,
    /// Which routing was in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route_epoch: Option<u64>,
    /// For tracing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Who says so.
    pub source: String,
}

document!(UsageSample);

form! {
    /// A project's id, `prj_<ULID>`.
    ProjectId: is_project_id, "a project id (`prj_` and a ULID)"
}

impl Read for UsageSample {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            id: need,
            idempotency_key: need,
            service: need,
            project: may,
            subject: may,
            resource: may,
            provider: may,
            node: may,
            cell: may,
            region: may,
            operation: need,
            quantity: need,
            unit: need,
            at: need_with (Timestamp::read_rfc3339),
            cost_estimate: may,
            free_allowance_used: may,
            vibes_charged: may,
            route_epoch: may,
            trace_id: may,
            source: need,
        })
    }
}
