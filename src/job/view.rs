use super::admission::Standing;
use super::slots::Promised;
use crate::contract::{
    ArtifactRef, DispatcherId, ExitReason, FaultCode, JobId, JobPhase, Limits,
    MonoMs, Ratio, Reason, RuntimeClass, Timestamp, Usage,
};
use crate::ledger::Counts;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Ended jobs by reason.
pub type EndedCounts = BTreeMap<ExitReason, u64>;

/// Everything about this node's jobs that anyone may want to show or offer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobsView {
    /// Whether the node takes jobs at all.
    pub standing: Standing,
    /// Configured classes, in the contract's order.
    pub classes: Vec<ClassView>,
    /// What is promised to the jobs that are here.
    pub promised: Promised,
    /// The jobs that are here, oldest id first.
    pub jobs: Vec<RunningJob>,
    /// The last refusals, oldest first.
    pub refusals: Vec<RefusalSeen>,
    /// Requests taken since the start.
    pub accepted: u64,
    /// Requests refused since the start.
    pub refused: u64,
    /// Ended jobs since the start, by reason.
    pub ended: EndedCounts,
    /// `failed` among the last 100 ended; `None` before the first.
    pub error_rate: Option<Ratio>,
    /// Rows of the ledger.
    pub ledger: Counts,
    /// When a class was probed last.
    pub checked: Option<Timestamp>,
}

/// One configured class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassView {
    /// Which.
    pub class: RuntimeClass,
    /// Why it is withdrawn; `None` while it is offered.
    pub withdrawn: Option<Reason>,
    /// Jobs at once.
    pub slots: u32,
    /// How many more could start now: 0 while it is withdrawn.
    pub free: u32,
}

/// One job that is here.
#[derive(Clone, Debug, PartialEq)]
pub struct RunningJob {
    /// Which.
    pub id: JobId,
    /// Whose.
    pub dispatcher: DispatcherId,
    /// In what.
    pub class: RuntimeClass,
    /// What runs.
    pub artifact: ArtifactRef,
    /// How far it is.
    pub phase: JobPhase,
    /// When it was received.
    pub received: Timestamp,
    /// Wall time of its exec.
    pub started: Option<Timestamp>,
    /// The same, on the clock that job time is counted on.
    pub started_mono: Option<MonoMs>,
    /// What it may use.
    pub limits: Limits,
    /// What it used by the last look.
    pub used: Used,
}

/// What a job used by the last look at it; absent is not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// CPU of all its processes.
    pub cpu_ms: Option<u64>,
    /// The most memory it held at once.
    pub mem_peak_bytes: Option<u64>,
    /// Output that was read from its ring.
    pub output_bytes: u64,
}

/// One job that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct EndedJob {
    /// As it was when it ended.
    pub job: RunningJob,
    /// Who or what ended it.
    pub reason: ExitReason,
    /// Its exit code.
    pub code: Option<i64>,
    /// What it used in all.
    pub usage: Usage,
    /// `Ov-Reason` headers of its exit.
    pub reasons: Vec<Reason>,
    /// When it ended, wall time.
    pub at: Timestamp,
    /// Whether its dispatcher knows.
    pub acked: bool,
}

/// One request that was refused.
#[derive(Clone, Debug, PartialEq)]
pub struct RefusalSeen {
    /// When.
    pub at: Timestamp,
    /// Whose.
    pub dispatcher: DispatcherId,
    /// As it was sent, if it could be read.
    pub id: Option<String>,
    /// What kind of refusal.
    pub code: FaultCode,
    /// The sentence.
    pub message: String,
}

/// Who hears how long things took.
#[derive(Clone)]
pub struct Timed {
    /// From a request to its `ack`.
    pub ack: Arc<dyn Fn(Duration) + Send + Sync>,
    /// From a job's receipt to its exec.
    pub start: Arc<dyn Fn(RuntimeClass, Duration) + Send + Sync>,
}

impl Default for Timed {
    /// Nobody.
    fn default() -> Self {
        Self { ack: Arc::new(drop), start: Arc::new(|_, _| {}) }
    }
}

impl fmt::Debug for Timed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Timed")
    }
}
