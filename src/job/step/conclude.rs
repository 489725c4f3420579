use super::phase::{Cause, Exec, Terms, ms};
use crate::contract::{
    Exit, ExitReason, MonoMs, Now, Reason, ReasonCode, Usage,
};
use crate::init::{EndedBy, ExitRecord, Outcome};
use crate::job::result;
use serde_json::Value;

/// The signal with which the kernel ends a process for want of memory.
const KILL: i32 = 9;

/// How a sandbox ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct End {
    /// PID 1's own record and what lay on fd 3; `None` where PID 1 died
    /// without a word.
    pub(crate) record: Option<(ExitRecord, Vec<u8>)>,
    /// What the daemon saw last.
    pub(crate) last: LastSeen,
}

/// What the daemon saw of a sandbox the last time it looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LastSeen {
    /// When it was seen alive.
    pub(crate) at: MonoMs,
    /// CPU by then.
    pub(crate) cpu_ms: Option<u64>,
    /// Greatest memory by then.
    pub(crate) mem_peak_bytes: Option<u64>,
    /// Processes that the kernel killed for want of memory by then.
    pub(crate) oom_kills: u64,
}

impl End {
    /// When the exec was, by the record.
    pub(super) fn exec(&self, now: Now) -> Option<Exec> {
        let (record, _) = self.record.as_ref()?;
        Some(Exec::seen(MonoMs(record.started_mono_ms?), now))
    }

    fn oom_kills(&self) -> u64 {
        let record = self.record.as_ref().and_then(|(r, _)| r.oom_kills);
        record.unwrap_or_default().max(self.last.oom_kills)
    }
}

/// What the exit says; its wall time may still grow to cover every second
/// that was sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conclusion {
    pub(crate) exit: Exit,
    pub(crate) reasons: Vec<Reason>,
}

impl Conclusion {
    fn of(reason: ExitReason, usage: Usage) -> Self {
        let exit = Exit { reason, code: None, result: Value::Null, usage };
        Self { exit, reasons: Vec::new() }
    }

    fn because(mut self, code: ReasonCode, text: impl Into<String>) -> Self {
        self.reasons.push(Reason::new(code, text));
        self
    }

    /// The exit of a job whose sandbox could not be made.
    pub(super) fn cannot_start(said: String) -> Self {
        Self::of(ExitReason::Failed, Usage::default())
            .because(ReasonCode::CannotStart, said)
    }

    /// The exit of a job whose supervision failed. What it used is known if
    /// its end was judged before, or else as far as it was seen.
    pub(crate) fn unsupervised(
        known: Option<Usage>,
        (since, last): (Option<Exec>, LastSeen),
    ) -> Self {
        let seen = || usage(since, &End { record: None, last });
        let said = "the node failed while it supervised the job";
        Self::of(ExitReason::Failed, known.unwrap_or_else(seen))
            .because(ReasonCode::SandboxLost, said)
    }

    /// The exit of a job that was ended before its sandbox had orders.
    pub(super) fn before_start(terms: &Terms, cause: Cause) -> Self {
        caused(terms, cause, Usage::default())
    }
}

/// What the exit says of a job whose sandbox is gone: the record is
/// believed, as PID 1 alone knows what came first.
pub(super) fn conclude(
    terms: &Terms,
    cause: Option<Cause>,
    since: Option<Exec>,
    end: End,
) -> Conclusion {
    let (usage, oom) = (usage(since, &end), end.oom_kills());
    let conclusion = match end.record {
        Some((record, written)) => {
            recorded(terms, cause, usage, (&record, &written, oom))
        }
        None => lost(terms, cause, usage, oom),
    };
    if oom == 0 {
        return conclusion;
    }
    let text = format!("the kernel killed {oom} for want of memory");
    conclusion.because(ReasonCode::OomKill, text)
}

fn usage(since: Option<Exec>, end: &End) -> Usage {
    let Some(since) = since else { return Usage::default() };
    let record = end.record.as_ref().map(|(record, _)| record);
    let until = record.map_or(end.last.at.0, |r| r.ended_mono_ms);
    let cpu_ms = record.and_then(|r| r.cpu_ms).or(end.last.cpu_ms);
    let peak = record.and_then(|r| r.mem_peak_bytes);
    Usage {
        started_ms: Some(since.wall),
        wall_ms: until.saturating_sub(since.mono.0),
        cpu_ms,
        mem_peak_bytes: peak.or(end.last.mem_peak_bytes),
    }
}

fn lost(
    terms: &Terms,
    cause: Option<Cause>,
    usage: Usage,
    oom_kills: u64,
) -> Conclusion {
    match cause {
        Some(cause) => caused(terms, cause, usage),
        None if oom_kills > 0 => Conclusion::of(ExitReason::Limit, usage),
        None => {
            let said = "the sandbox ended without an exit record";
            Conclusion::of(ExitReason::Failed, usage)
                .because(ReasonCode::SandboxLost, said)
        }
    }
}

fn recorded(
    terms: &Terms,
    cause: Option<Cause>,
    usage: Usage,
    (record, written, oom): (&ExitRecord, &[u8], u64),
) -> Conclusion {
    let limit = |said: String| {
        Conclusion::of(ExitReason::Limit, usage)
            .because(ReasonCode::LimitReached, said)
    };
    match (record.ended_by, cause) {
        // The daemon's kill from outside looks like the program's own end.
        (EndedBy::Program, Some(cause))
            if record.outcome == Outcome::Signalled(KILL) =>
        {
            caused(terms, cause, usage)
        }
        (EndedBy::Program, _) => {
            by_itself(terms, usage, (record, written, oom))
        }
        (EndedBy::Cancel, cause) => {
            caused(terms, cause.unwrap_or(Cause::Cancelled), usage)
        }
        (EndedBy::Ttl, _) => caused(terms, Cause::Ttl, usage),
        (EndedBy::Wall, _) => caused(terms, Cause::Wall, usage),
        (EndedBy::Cpu, _) => caused(terms, Cause::Cpu, usage),
        (EndedBy::Output, _) => {
            limit(format!("stdout went over its {}", terms.output))
        }
        (EndedBy::Result, _) => {
            limit(format!("the result went over its {}", terms.result))
        }
        (EndedBy::Orphaned, _) => {
            let said = "no daemon was there for too long";
            Conclusion::of(ExitReason::Failed, usage)
                .because(ReasonCode::SandboxLost, said)
        }
    }
}

fn by_itself(
    terms: &Terms,
    usage: Usage,
    (record, written, oom): (&ExitRecord, &[u8], u64),
) -> Conclusion {
    let exited = Conclusion::of(ExitReason::Exited, usage);
    match &record.outcome {
        Outcome::CannotStart(said) => Conclusion::cannot_start(said.clone()),
        Outcome::Signalled(KILL) if oom > 0 => {
            Conclusion::of(ExitReason::Limit, usage)
        }
        Outcome::Signalled(_) => exited,
        Outcome::Exited(0) => with_result(terms, exited, record, written),
        Outcome::Exited(code) => {
            let code = Some(i64::from(*code));
            Conclusion { exit: Exit { code, ..exited.exit }, ..exited }
        }
    }
}

fn with_result(
    terms: &Terms,
    mut exited: Conclusion,
    record: &ExitRecord,
    written: &[u8],
) -> Conclusion {
    let size = record.result_bytes.max(written.len() as u64);
    if size > terms.result.0 {
        return over_result(terms, size, exited.exit.usage);
    }
    exited.exit.code = Some(0);
    if (written.len() as u64) < record.result_bytes {
        let text = format!("{} bytes of {size}", written.len());
        let said = format!("the result was lost to a full disk ({text})");
        return exited.because(ReasonCode::BadResult, said);
    }
    match result::parse(written) {
        // Numbers may be written longer than they were read.
        Ok(value) if json_bytes(&value) > terms.result.0 => {
            over_result(terms, json_bytes(&value), exited.exit.usage)
        }
        Ok(result) => {
            exited.exit.result = result;
            exited
        }
        Err(said) => exited.because(ReasonCode::BadResult, said),
    }
}

fn over_result(terms: &Terms, size: u64, usage: Usage) -> Conclusion {
    let text = format!("a result of {size} bytes, over its {}", terms.result);
    Conclusion::of(ExitReason::Limit, usage)
        .because(ReasonCode::LimitReached, text)
}

fn json_bytes(value: &Value) -> u64 {
    value.to_string().len() as u64
}

/// The exit of a job that the daemon or PID 1 ended.
fn caused(terms: &Terms, cause: Cause, usage: Usage) -> Conclusion {
    let of = |reason| Conclusion::of(reason, usage);
    let limit =
        |said| of(ExitReason::Limit).because(ReasonCode::LimitReached, said);
    match cause {
        Cause::Cancelled => of(ExitReason::Cancelled),
        Cause::Stopped => of(ExitReason::Stopped),
        Cause::Ttl => of(ExitReason::Ttl),
        Cause::Wall => {
            limit(format!("the wall limit of {} ms", ms(terms.wall)))
        }
        Cause::Cpu => limit(format!("the CPU limit of {} ms", ms(terms.cpu))),
    }
}
