use super::{CapacityReport, JobsReport};
use crate::contract::{
    Bytes, HealthStatus, MilliCores, Reason, RuntimeClass, Timestamp, Trust,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A word of another room's closed list, as text: a reader of a later
/// version's document must not fail on one that it does not know.
pub type Word = Cow<'static, str>;

/// All that a node says of itself, at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusDocument {
    /// Of ovnode.
    pub version: String,
    /// When this was said; ages are counted from it.
    #[serde(rename = "at_ms")]
    pub at: Timestamp,
    /// Which node.
    pub node: NodeReport,
    /// Whether it is well.
    pub health: HealthReport,
    /// The connection to NATS.
    pub link: LinkReport,
    /// The container engine.
    pub engine: EngineReport,
    /// The configured classes, and those that could be, in the usual order.
    pub classes: Vec<ClassReport>,
    /// What the machine has and what of it is free.
    pub capacity: CapacityReport,
    /// The node's jobs.
    pub jobs: JobsReport,
    /// The last 50 requests that were refused, the newest first.
    pub refusals: Vec<RefusalReport>,
    /// What was published of the node.
    pub offer: OfferReport,
    /// What the owner should know and do something about, as sentences.
    pub warnings: Vec<String>,
}

/// Which node it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeReport {
    /// Stable for life.
    pub id: String,
    /// Where it stands.
    pub region: String,
    /// The cell within the region.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
    /// How far it may be trusted.
    pub trust: Trust,
    /// Whose machine it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// This run of the daemon; two answers with different ones are a clone.
    pub instance: String,
    /// When the daemon was started.
    #[serde(rename = "started_ms")]
    pub started: Timestamp,
}

impl Default for NodeReport {
    fn default() -> Self {
        Self {
            id: String::new(),
            region: String::new(),
            cell: None,
            trust: Trust::UserOwned,
            provider: None,
            instance: String::new(),
            started: Timestamp::default(),
        }
    }
}

/// Whether the node is well, and why not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HealthReport {
    /// As in its offers.
    pub status: HealthStatus,
    /// Why it is not `up`; empty if it is.
    pub reasons: Vec<ReasonReport>,
    /// `failed` among the last ended jobs, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_rate: Option<f64>,
}

impl Default for HealthReport {
    /// A node that does not say how it is gets nothing sent.
    fn default() -> Self {
        let status = HealthStatus::Down;
        Self { status, reasons: Vec::new(), error_rate: None }
    }
}

/// Why, as `Ov-Reason` says it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReasonReport {
    /// From the closed list of `docs/reasons.md`.
    pub code: Word,
    /// For people.
    pub text: String,
}

impl From<&Reason> for ReasonReport {
    fn from(reason: &Reason) -> Self {
        let code = Cow::Borrowed(reason.code.as_str());
        Self { code, text: reason.text.clone() }
    }
}

/// The connection to NATS.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkReport {
    /// How it is: `connected`, or another of the link's words.
    pub state: Word,
    /// The server, without credentials.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub server: String,
    /// Since when it is so.
    #[serde(rename = "since_ms")]
    pub since: Timestamp,
    /// What the server forbids, as `publish to X` and `subscribe to X`.
    pub denied: Vec<String>,
    /// For people: what is wrong and what is done about it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// The container engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineReport {
    /// How it is.
    pub state: EngineState,
    /// Its version, as it says it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The version of its API that is spoken.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api: String,
    /// Version of the control groups, `1` or `2`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cgroup: String,
}

/// How the engine is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum EngineState {
    /// It answers.
    Ready,
    /// It does not answer: what became of its containers is not known.
    Away,
    /// A word of another version, or not asked yet.
    #[default]
    #[serde(other)]
    Unknown,
}

/// One class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassReport {
    /// Which.
    pub class: RuntimeClass,
    /// Whether the owner wants it offered.
    #[serde(default)]
    pub configured: bool,
    /// Whether it is offered now.
    #[serde(default)]
    pub offered: bool,
    /// Why it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<ReasonReport>,
    /// How many jobs at once.
    #[serde(default)]
    pub slots: u64,
    /// How many could start now, alone.
    #[serde(default)]
    pub free: u64,
    /// What one job has of the processor.
    #[serde(default, rename = "cpu_millicores")]
    pub cpu: MilliCores,
    /// What one job has of the memory.
    #[serde(default, rename = "memory_bytes")]
    pub memory: Bytes,
    /// Its image's reference.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub image: String,
    /// Its last probe; absent if none was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<ProbeReport>,
}

/// One probe of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProbeReport {
    /// When it was made.
    #[serde(rename = "at_ms")]
    pub at: Timestamp,
    /// Promises that did not hold, as sentences; empty if it passed.
    pub failed: Vec<String>,
}

/// One request that was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RefusalReport {
    /// When.
    #[serde(rename = "at_ms")]
    pub at: Timestamp,
    /// Its job, as far as it could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Who sent it.
    pub dispatcher: String,
    /// The `fault_code` of the answer.
    pub code: Word,
    /// The `message` of the answer.
    pub message: String,
}

impl RefusalReport {
    /// How many of them a document holds: what fits on a few screens.
    pub const KEPT: usize = 50;
}

/// What was published of the node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OfferReport {
    /// When the last one was published; absent if none was.
    #[serde(
        rename = "last_published_ms",
        skip_serializing_if = "Option::is_none"
    )]
    pub last_published: Option<Timestamp>,
    /// How many since the daemon's start.
    pub count: u64,
}

impl StatusDocument {
    /// The document as it is sent.
    pub fn to_json(&self) -> Vec<u8> {
        // Strings, numbers and string keys only: there is nothing that JSON
        // could not hold, and an empty answer is said to be unreadable.
        serde_json::to_vec(self).unwrap_or_default()
    }
}
