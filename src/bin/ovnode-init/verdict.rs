use crate::cgroup::Cgroup;
use crate::clock::{Moment, millis};
use ovnode::init::{EndedBy, ExitRecord, Outcome};
use rustix::process::{Signal, WaitStatus};
use std::time::Duration;

/// What became of a job, before what was counted is added.
pub(crate) struct Verdict {
    pub(crate) outcome: Outcome,
    pub(crate) ended_by: EndedBy,
    pub(crate) started: Option<Moment>,
    pub(crate) ended: Moment,
}

/// What was counted.
#[derive(Default)]
pub(crate) struct Counted {
    pub(crate) cpu: Option<Duration>,
    pub(crate) stdout_end: u64,
    pub(crate) result_bytes: usize,
}

impl Verdict {
    /// A job that never came to its exec.
    pub(crate) fn cannot_start(reason: String, ended_by: EndedBy) -> Self {
        Self {
            outcome: Outcome::CannotStart(reason),
            ended_by,
            started: None,
            ended: Moment::now(),
        }
    }

    /// The exit record.
    pub(crate) fn record(
        self,
        counted: &Counted,
        cgroup: &Cgroup,
    ) -> ExitRecord {
        let started = self.started;
        // The reaper may see the end of a quick job before its start is
        // noticed; it has not run a negative time.
        let not_before = |time: Duration, start: Option<Duration>| {
            millis(time.max(start.unwrap_or_default()))
        };
        ExitRecord {
            outcome: self.outcome,
            ended_by: self.ended_by,
            started_mono_ms: started.map(|at| millis(at.mono)),
            started_boot_ms: started.map(|at| millis(at.boot)),
            ended_mono_ms: not_before(
                self.ended.mono,
                started.map(|at| at.mono),
            ),
            ended_boot_ms: not_before(
                self.ended.boot,
                started.map(|at| at.boot),
            ),
            cpu_ms: counted.cpu.map(millis),
            mem_peak_bytes: cgroup.memory_peak(),
            oom_kills: cgroup.oom_kills(),
            stdout_end: counted.stdout_end,
            result_bytes: u64::try_from(counted.result_bytes)
                .unwrap_or(u64::MAX),
        }
    }
}

/// What a wait status says of a program.
pub(crate) fn outcome(status: WaitStatus) -> Outcome {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Outcome::Exited(code),
        (None, Some(signal)) => Outcome::Signalled(signal),
        (None, None) => killed(),
    }
}

/// One that is not gone after everything was tried: the end of PID 1 is the
/// end of it, by this signal.
pub(crate) fn killed() -> Outcome {
    Outcome::Signalled(Signal::KILL.as_raw())
}
