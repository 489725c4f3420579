use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the daemon says to PID 1: one JSON document a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ToInit {
    /// Run this, once.
    Run(Box<Orders>),
    /// TERM, then KILL after the grace.
    Cancel {
        /// Between the two signals.
        grace_ms: u64,
    },
}

/// What PID 1 says to the daemon: one JSON document a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FromInit {
    /// It stands and waits for orders (or, after a new connection, goes on).
    Ready,
    /// The job's exec succeeded.
    Started {
        /// CLOCK_MONOTONIC of the exec.
        mono_ms: u64,
    },
    /// The ring of stdout holds bytes up to here.
    Output {
        /// Absolute offset of the end.
        end: u64,
    },
    /// The exit record is written; nothing follows.
    Ended,
}

/// All that PID 1 needs to run a job and to keep its limits alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Orders {
    /// Program and arguments; the program is looked up in `PATH` of `env`.
    pub argv: Vec<String>,
    /// The whole environment; nothing is inherited.
    pub env: BTreeMap<String, String>,
    /// Working directory.
    pub cwd: String,
    /// The job's own user, never 0.
    pub uid: u32,
    /// The job's own group, never 0.
    pub gid: u32,
    /// Written to the job's stdin, which is then closed.
    pub stdin: String,
    /// Where its stderr goes.
    pub stderr: StderrTo,
    /// Job time from the exec, CLOCK_MONOTONIC.
    pub wall_ms: u64,
    /// CPU of the whole sandbox.
    pub cpu_ms: u64,
    /// When it expires, CLOCK_BOOTTIME.
    pub ttl_boot_ms: u64,
    /// Between TERM and KILL when a deadline passes.
    pub grace_ms: u64,
    /// Bytes of stdout after which it is ended.
    pub output_bytes: u64,
    /// Bytes on fd 3 after which it is ended.
    pub result_bytes: u64,
    /// RLIMIT_NOFILE.
    pub open_files: u64,
    /// RLIMIT_FSIZE.
    pub file_bytes: u64,
}

/// Where a job's stderr goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StderrTo {
    /// The owner's: a ring of its own in the record.
    Owner,
    /// Merged into stdout.
    Stream,
}
