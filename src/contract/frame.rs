use super::{JobId, Timestamp};
use serde_json::Value;

/// What a node says about a job (`platform.job-frame@1`).
#[derive(Clone, Debug, PartialEq)]
pub struct JobFrame {
    /// Rises strictly over one job's frames from one node.
    pub seq: u64,
    /// When it was made.
    pub ts: Timestamp,
    /// The job.
    pub id: JobId,
    /// What happened.
    pub event: JobEvent,
}

/// What happened to a job.
#[derive(Clone, Debug, PartialEq)]
pub enum JobEvent {
    /// Its exec succeeded.
    Started {
        /// Wall time of the exec, computed once.
        started_ms: Timestamp,
    },
    /// A piece of its output.
    Stdout {
        /// From 1; numbers skipped are chunks lost.
        chunk_seq: u64,
        /// At most 16 KiB of valid UTF-8.
        chunk: String,
    },
    /// One second of job time was used.
    Usage {
        /// As in `Started`.
        started_ms: Timestamp,
        /// Which second, from 0.
        second: u64,
        /// CPU of that second; absent if not measured.
        cpu_ms: Option<u64>,
    },
    /// It ended.
    Exit(Exit),
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Exit {
    /// Who or what ended it.
    pub reason: ExitReason,
    /// Its exit code; `None` unless `exited` by itself.
    pub code: Option<i64>,
    /// What it wrote to fd 3; null unless `exited` with 0.
    pub result: Value,
    /// What it used.
    pub usage: Usage,
}

/// Who or what ended a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExitReason {
    /// The program itself.
    Exited,
    /// Its dispatcher.
    Cancelled,
    /// Its time to live.
    Ttl,
    /// One of its limits.
    Limit,
    /// The owner.
    Stopped,
    /// The node could not run it, or lost it.
    Failed,
}

impl ExitReason {
    /// The contract's own word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exited => "exited",
            Self::Cancelled => "cancelled",
            Self::Ttl => "ttl",
            Self::Limit => "limit",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }
}

/// What a job used in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Wall time of its exec; absent if it never started.
    pub started_ms: Option<Timestamp>,
    /// Job time.
    pub wall_ms: u64,
    /// CPU of all its processes; absent if not measured.
    pub cpu_ms: Option<u64>,
    /// Greatest memory of all its processes together.
    pub mem_peak_bytes: Option<u64>,
}
