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
    /// CPU of the whole sandbox since the orders, from the cgroup; absent if
    /// unreadable.
    pub cpu_ms: Option<u64>,
    /// Greatest memory from the cgroup; absent if unreadable.
    pub mem_peak_bytes: Option<u64>,
    /// Processes that the kernel killed for want of memory; absent if
    /// unreadable.
    pub oom_kills: Option<u64>,
    /// Absolute end of stdout.
    pub stdout_end: u64,
    /// What the job wrote to fd 3, at most what its orders allow. The result
    /// file holds as much; a shorter one, or none, was lost to a full disk.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(outcome: Outcome) -> ExitRecord {
        ExitRecord {
            outcome,
            ended_by: EndedBy::Program,
            started_mono_ms: Some(1),
            started_boot_ms: Some(2),
            ended_mono_ms: 3,
            ended_boot_ms: 4,
            cpu_ms: None,
            mem_peak_bytes: Some(5),
            oom_kills: Some(0),
            stdout_end: 6,
            result_bytes: 7,
        }
    }

    #[test]
    fn an_exit_record_reads_as_agreed() {
        let golden = concat!(
            r#"{"outcome":{"exited":0},"ended_by":"program","#,
            r#""started_mono_ms":1,"started_boot_ms":2,"#,
            r#""ended_mono_ms":3,"ended_boot_ms":4,"#,
            r#""cpu_ms":null,"mem_peak_bytes":5,"oom_kills":0,"#,
            r#""stdout_end":6,"result_bytes":7}"#,
        );
        let record = ended(Outcome::Exited(0));
        assert_eq!(serde_json::to_string(&record).unwrap(), golden);
        assert_eq!(serde_json::from_str::<ExitRecord>(golden).unwrap(), record);
    }

    #[test]
    fn a_code_and_a_signal_of_the_same_number_are_told_apart() {
        let of = |outcome| serde_json::to_string(&outcome).unwrap();
        assert_eq!(of(Outcome::Exited(9)), r#"{"exited":9}"#);
        assert_eq!(of(Outcome::Signalled(9)), r#"{"signalled":9}"#);
        assert_eq!(
            of(Outcome::CannotStart("no".into())),
            r#"{"cannot_start":"no"}"#
        );
    }
}
