use super::{ReasonReport, Word};
use crate::contract::{Bytes, JobId, RuntimeClass, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The node's jobs: those it holds, and counts of the others since the
/// daemon's start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobsReport {
    /// Jobs that hold a slot, the oldest first.
    pub running: Vec<JobReport>,
    /// How many hold a slot (it stands in the public part too).
    pub held: u64,
    /// Accepted since the daemon's start.
    pub accepted: u64,
    /// Refused since the daemon's start.
    pub refused: u64,
    /// Ended since the daemon's start.
    pub ended: u64,
    /// Ended ones by exit reason, as `exited` or `limit`.
    pub ended_by: BTreeMap<Word, u64>,
    /// Exits that still wait for their acknowledgement.
    pub exits_waiting: u64,
    /// Exits that were given up without one.
    pub unacked: u64,
}

/// Every job that a node remembers, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobList {
    /// When this was said; ages are counted from it.
    #[serde(rename = "at_ms")]
    pub at: Timestamp,
    /// The jobs.
    pub jobs: Vec<JobReport>,
}

/// One job, as it is asked for alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobDocument {
    /// When this was said; ages are counted from it.
    #[serde(default, rename = "at_ms")]
    pub at: Timestamp,
    /// The job, beside the time.
    #[serde(flatten)]
    pub job: JobReport,
}

/// One job, as the node tells it to its owner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobReport {
    /// Its id.
    pub id: JobId,
    /// Its class.
    pub class: RuntimeClass,
    /// `name@version` of what it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<String>,
    /// Who sent it.
    #[serde(default)]
    pub dispatcher: String,
    /// How far it is.
    #[serde(default)]
    pub state: JobPhase,
    /// When the node took it.
    #[serde(default, rename = "accepted_ms")]
    pub accepted: Timestamp,
    /// When its program was executed.
    #[serde(
        default,
        rename = "started_ms",
        skip_serializing_if = "Option::is_none"
    )]
    pub started: Option<Timestamp>,
    /// When its time to live ends, in wall time as of now.
    #[serde(
        default,
        rename = "expires_ms",
        skip_serializing_if = "Option::is_none"
    )]
    pub expires: Option<Timestamp>,
    /// What it may use.
    #[serde(default)]
    pub limits: JobLimitsReport,
    /// What it used until now.
    #[serde(default)]
    pub used: JobUseReport,
    /// How it ended; absent while it is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<ExitReport>,
}

/// What a job may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobLimitsReport {
    /// Job time.
    pub wall_ms: u64,
    /// CPU of all its processes.
    pub cpu_ms: u64,
    /// Memory of all its processes.
    #[serde(rename = "mem_bytes")]
    pub mem: Bytes,
}

/// What a job used until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobUseReport {
    /// Job time.
    pub wall_ms: u64,
    /// CPU of all its processes; absent if not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<u64>,
    /// Greatest memory; absent if not measured.
    #[serde(
        rename = "mem_peak_bytes",
        skip_serializing_if = "Option::is_none"
    )]
    pub mem_peak: Option<Bytes>,
    /// What it wrote to its output.
    #[serde(rename = "output_bytes")]
    pub output: Bytes,
}

/// How a job ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExitReport {
    /// Who or what ended it, as in the exit frame.
    pub reason: Word,
    /// Its exit code; null unless it exited by itself.
    pub code: Option<i64>,
    /// When it ended.
    #[serde(rename = "at_ms")]
    pub at: Timestamp,
    /// Whether the dispatcher acknowledged it.
    pub acked: bool,
    /// What `Ov-Reason` said with it.
    pub reasons: Vec<ReasonReport>,
}

/// How far a job is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum JobPhase {
    /// Taken; nothing of it was done yet.
    Admitted,
    /// Its inputs are fetched.
    Staging,
    /// Its sandbox is made.
    Starting,
    /// Its program runs.
    Running,
    /// It is being ended.
    Ending,
    /// It ended; its exit waits to be acknowledged.
    Ended,
    /// Nothing is left to do for it.
    Settled,
    /// A word of another version.
    #[default]
    #[serde(other)]
    Unknown,
}

impl JobPhase {
    /// The word in the document.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admitted => "admitted",
            Self::Staging => "staging",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Ending => "ending",
            Self::Ended => "ended",
            Self::Settled => "settled",
            Self::Unknown => "unknown",
        }
    }
}
