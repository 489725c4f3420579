use super::conclude::{self, Conclusion, End};
use super::phase::{Cause, Exec, Phase, Terms, ms};
use crate::contract::{MonoMs, Now};
use std::time::Duration;

/// How much later than PID 1 the daemon enforces a deadline: PID 1 is nearer
/// and says more precisely what happened, so it goes first.
const OUTSIDE_MS: u64 = 1_000;
/// How often a sandbox that does not go away is killed again.
const KILL_AGAIN_MS: u64 = 1_000;
/// Pause after the first failed try to make a sandbox; doubled each time.
const RETRY_MS: u64 = 250;
/// Longest pause between tries: an engine that restarts takes seconds.
const RETRY_MOST_MS: u64 = 5_000;

/// Something happened to a job.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    /// Its row is written: go on.
    Begin,
    /// Its sandbox stands and PID 1 waits for orders.
    Opened,
    /// Its sandbox could not be made.
    NotOpened(OpenFault),
    /// The exec succeeded.
    Started(MonoMs),
    /// Its dispatcher wants it ended.
    Cancel,
    /// The owner wants it ended.
    Stop,
    /// Time passed; `cpu` is what its sandbox has used, if that is known.
    Tick(Option<Duration>),
    /// Its sandbox is gone.
    Gone(Box<End>),
}

/// Why a sandbox could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OpenFault {
    /// The engine does not answer: try again while the job may live.
    Away(String),
    /// It will not be any better the next time.
    Refused(String),
}

/// What is to be done, in this order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Make a sandbox, one that never was started before.
    Open,
    /// Give up the sandbox that is being made or stands without orders.
    Abandon,
    /// Hand PID 1 its orders.
    Order,
    /// Publish `job_started`.
    SayStarted(Exec),
    /// Tell PID 1 to end the job.
    Term,
    /// Lift the CPU quota and kill the whole sandbox from outside.
    Kill,
    /// Write the exit row; when all output is out, publish the exit.
    Conclude(Box<Conclusion>),
    /// Nothing: the event does not belong here. Logged, never lost.
    Refused(&'static str),
}

/// The next phase, and what is to be done on the way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) phase: Phase,
    pub(crate) effects: Vec<Effect>,
}

impl Step {
    fn to(phase: Phase, effects: impl Into<Vec<Effect>>) -> Self {
        Self { phase, effects: effects.into() }
    }
    fn stay(phase: Phase) -> Self {
        Self::to(phase, [])
    }
    fn refused(phase: Phase, event: &'static str) -> Self {
        Self::to(phase, [Effect::Refused(event)])
    }
}

/// What a job in `phase` does when `event` happens at `now`.
pub(crate) fn step(
    terms: &Terms,
    phase: Phase,
    event: Event,
    now: Now,
) -> Step {
    match event {
        Event::Begin => match phase {
            Phase::Admitted => {
                Step::to(Phase::Opening { tries: 0 }, [Effect::Open])
            }
            Phase::Opening { .. }
            | Phase::Waiting { .. }
            | Phase::Ordered
            | Phase::Running { .. }
            | Phase::Ending { .. }
            | Phase::Ended => Step::refused(phase, "begin"),
        },
        Event::Opened => opened(phase),
        Event::NotOpened(fault) => not_opened(phase, fault, now),
        Event::Started(mono) => started(phase, Exec::seen(mono, now)),
        Event::Cancel => end(terms, phase, Cause::Cancelled, now),
        Event::Stop => end(terms, phase, Cause::Stopped, now),
        Event::Tick(cpu) => tick(terms, phase, cpu, now),
        Event::Gone(end) => gone(terms, phase, *end, now),
    }
}

fn opened(phase: Phase) -> Step {
    match phase {
        Phase::Opening { .. } => Step::to(Phase::Ordered, [Effect::Order]),
        // Its job ended while it was being made: nothing may run in it.
        Phase::Ended => Step::to(phase, [Effect::Abandon]),
        Phase::Admitted
        | Phase::Waiting { .. }
        | Phase::Ordered
        | Phase::Running { .. }
        | Phase::Ending { .. } => Step::refused(phase, "opened"),
    }
}

fn not_opened(phase: Phase, fault: OpenFault, now: Now) -> Step {
    match (phase, fault) {
        (Phase::Opening { tries }, OpenFault::Away(_)) => wait(now, tries + 1),
        (Phase::Opening { .. }, OpenFault::Refused(said)) => {
            concluded([], Conclusion::cannot_start(said))
        }
        (Phase::Ended, OpenFault::Away(_) | OpenFault::Refused(_)) => {
            Step::stay(phase)
        }
        (
            Phase::Admitted
            | Phase::Waiting { .. }
            | Phase::Ordered
            | Phase::Running { .. }
            | Phase::Ending { .. },
            _,
        ) => Step::refused(phase, "not opened"),
    }
}

fn wait(now: Now, tries: u32) -> Step {
    let pause = RETRY_MS.saturating_mul(1 << tries.min(11).saturating_sub(1));
    let again_at = MonoMs(now.mono.0 + pause.min(RETRY_MOST_MS));
    Step::stay(Phase::Waiting { again_at, tries })
}

fn started(phase: Phase, since: Exec) -> Step {
    match phase {
        // PID 1 says it again to whoever it connects to anew.
        Phase::Running { since: seen }
        | Phase::Ending { since: Some(seen), .. }
            if seen.mono == since.mono =>
        {
            Step::stay(phase)
        }
        Phase::Ordered => {
            let running = Phase::Running { since };
            Step::to(running, [Effect::SayStarted(since)])
        }
        Phase::Ending { cause, since: None, kill_at } => {
            let ending = Phase::Ending { cause, since: Some(since), kill_at };
            Step::to(ending, [Effect::SayStarted(since)])
        }
        Phase::Admitted
        | Phase::Opening { .. }
        | Phase::Waiting { .. }
        | Phase::Running { .. }
        | Phase::Ending { .. }
        | Phase::Ended => Step::refused(phase, "started"),
    }
}

fn end(terms: &Terms, phase: Phase, cause: Cause, now: Now) -> Step {
    let since = match phase {
        Phase::Admitted | Phase::Waiting { .. } => {
            return concluded([], Conclusion::before_start(terms, cause));
        }
        Phase::Opening { .. } => {
            let said = Conclusion::before_start(terms, cause);
            return concluded([Effect::Abandon], said);
        }
        Phase::Ordered => None,
        Phase::Running { since } => Some(since),
        // The first cause stands, and an end is not taken back.
        Phase::Ending { .. } | Phase::Ended => return Step::stay(phase),
    };
    let grace = ms(terms.grace).saturating_add(OUTSIDE_MS);
    let kill_at = MonoMs(now.mono.0.saturating_add(grace));
    Step::to(Phase::Ending { cause, since, kill_at }, [Effect::Term])
}

fn tick(terms: &Terms, phase: Phase, cpu: Option<Duration>, now: Now) -> Step {
    match phase {
        Phase::Admitted | Phase::Opening { .. } | Phase::Waiting { .. }
            if now.boot >= terms.expires() =>
        {
            end(terms, phase, Cause::Ttl, now)
        }
        Phase::Waiting { again_at, tries } if now.mono >= again_at => {
            Step::to(Phase::Opening { tries }, [Effect::Open])
        }
        Phase::Ordered | Phase::Running { .. } => {
            match overdue(terms, phase, cpu, now) {
                Some(cause) => end(terms, phase, cause, now),
                None => Step::stay(phase),
            }
        }
        Phase::Ending { cause, since, kill_at } if now.mono >= kill_at => {
            let kill_at = MonoMs(now.mono.0 + KILL_AGAIN_MS);
            let again = Phase::Ending { cause, since, kill_at };
            Step::to(again, [Effect::Kill])
        }
        Phase::Admitted
        | Phase::Opening { .. }
        | Phase::Waiting { .. }
        | Phase::Ending { .. }
        | Phase::Ended => Step::stay(phase),
    }
}

/// The limit that a job is past, by more than PID 1 needs to act on it.
fn overdue(
    terms: &Terms,
    phase: Phase,
    cpu: Option<Duration>,
    now: Now,
) -> Option<Cause> {
    if now.boot.0 >= terms.expires().0.saturating_add(OUTSIDE_MS) {
        return Some(Cause::Ttl);
    }
    if let Phase::Running { since } = phase {
        let time = now.mono.0.saturating_sub(since.mono.0);
        if time >= ms(terms.wall).saturating_add(OUTSIDE_MS) {
            return Some(Cause::Wall);
        }
    }
    let over = Duration::from_millis(OUTSIDE_MS);
    let used_up = cpu.is_some_and(|used| used >= terms.cpu + over);
    used_up.then_some(Cause::Cpu)
}

fn gone(terms: &Terms, phase: Phase, end: End, now: Now) -> Step {
    let (cause, known) = match phase {
        Phase::Ordered => (None, None),
        Phase::Running { since } => (None, Some(since)),
        Phase::Ending { cause, since, .. } => (Some(cause), since),
        Phase::Admitted
        | Phase::Opening { .. }
        | Phase::Waiting { .. }
        | Phase::Ended => return Step::refused(phase, "gone"),
    };
    let since = known.or_else(|| end.exec(now));
    let late = since.filter(|_| known.is_none()).map(Effect::SayStarted);
    concluded(late, conclude::conclude(terms, cause, since, end))
}

fn concluded(
    before: impl IntoIterator<Item = Effect>,
    conclusion: Conclusion,
) -> Step {
    let mut effects: Vec<_> = before.into_iter().collect();
    effects.push(Effect::Conclude(Box::new(conclusion)));
    Step::to(Phase::Ended, effects)
}
