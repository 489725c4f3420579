use serde::{Deserialize, Serialize};

/// Names of the files in a record.
pub mod names {
    /// Where the record is mounted in the sandbox.
    pub const MOUNT: &str = "/run/ovnode";
    /// Where the init binary is mounted in the sandbox.
    pub const INIT: &str = "/run/ovnode-init";
    /// The daemon's listening socket, to which PID 1 connects.
    pub const SOCKET: &str = "control.sock";
    /// Whose record it is: written by the daemon before the orders.
    pub const IDENTITY: &str = "job.json";
    /// Created exclusively by PID 1 before it executes the job.
    pub const BEGUN: &str = "begun";
    /// The exit record.
    pub const EXIT: &str = "exit.json";
    /// What the job wrote to fd 3.
    pub const RESULT: &str = "result";
    /// The ring of stdout.
    pub const STDOUT: &str = "stdout.ring";
    /// The ring of stderr, where it is the owner's.
    pub const STDERR: &str = "stderr.ring";
}

/// Whose record it is; there before any byte of the job is handed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The job's id.
    pub job: String,
    /// Who sent it.
    pub dispatcher: String,
    /// SHA-256 of the job, hex.
    pub hash: String,
}

/// Written when a job is about to be executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begun {
    /// CLOCK_MONOTONIC.
    pub mono_ms: u64,
    /// CLOCK_BOOTTIME.
    pub boot_ms: u64,
}

/// How a job ended, in PID 1's own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    /// What became of the program.
    pub outcome: Outcome,
    /// Who or what ended it.
    pub ended_by: EndedBy,
    /// CLOCK_MONOTONIC of the exec; absent if it never came to one.
    pub started_mono_ms: Option<u64>,
    /// CLOCK_BOOTTIME of the exec.
    pub started_boot_ms: Option<u64>,
    /// CLOCK_MONOTONIC of the end.
    pub ended_mono_ms: u64,
    /// CLOCK_BOOTTIME of the end.
    pub ended_boot_ms: u64,
    /// CPU of the whole sandbox from the cgroup; absent if unreadable.
    pub cpu_ms: Option<u64>,
    /// Greatest memory from the cgroup; absent if unreadable.
    pub mem_peak_bytes: Option<u64>,
    /// Processes that the kernel killed for want of memory.
    pub oom_kills: u64,
    /// Absolute end of stdout.
    pub stdout_end: u64,
    /// Bytes of the result file.
    pub result_bytes: u64,
}

/// What became of the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It returned.
    Exited(i32),
    /// A signal ended it.
    Signalled(i32),
    /// It could not be executed.
    CannotStart(String),
}

/// Who or what ended a job, as far as PID 1 knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The program itself (or a signal of its own).
    Program,
    /// The daemon's cancel.
    Cancel,
    /// The time to live.
    Ttl,
    /// The wall limit.
    Wall,
    /// The CPU limit.
    Cpu,
    /// Too much on stdout.
    Output,
    /// Too much on fd 3.
    Result,
    /// The daemon's lease ran out.
    Orphaned,
}
