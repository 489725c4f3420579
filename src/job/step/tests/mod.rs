//! Every transition as data; what an exit says has a file of its own.
mod conclusions; // what the exit says
use super::*;
use crate::contract::{
    BootMs, Bytes, ExitReason, MonoMs, Now, ReasonCode, Timestamp,
};
use crate::init::{EndedBy, ExitRecord, Outcome};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

const RECEIVED: Now = Now {
    wall: Timestamp(1_800_000_000_000),
    mono: MonoMs(50_000),
    boot: BootMs(90_000),
};

fn terms() -> Terms {
    Terms {
        received: RECEIVED,
        ttl: Duration::from_secs(60),
        wall: Duration::from_secs(10),
        cpu: Duration::from_secs(5),
        grace: Duration::from_secs(5),
        output: Bytes::mib(64),
        result: Bytes(32),
    }
}

/// `ms` after the receipt, on all clocks.
fn at(ms: u64) -> Now {
    Now {
        wall: Timestamp(RECEIVED.wall.0 + ms),
        mono: MonoMs(RECEIVED.mono.0 + ms),
        boot: BootMs(RECEIVED.boot.0 + ms),
    }
}

fn exec(ms: u64) -> Exec {
    Exec { mono: at(ms).mono, wall: at(ms).wall }
}
const OPENING: Phase = Phase::Opening { tries: 0 };
fn waiting(ms: u64, tries: u32) -> Phase {
    Phase::Waiting { again_at: at(ms).mono, tries }
}
fn running() -> Phase {
    Phase::Running { since: exec(100) }
}
fn ending(cause: Cause, since: Option<Exec>, kill: u64) -> Phase {
    Phase::Ending { cause, since, kill_at: at(kill).mono }
}
fn every_phase() -> [Phase; 8] {
    [
        Phase::Admitted,
        OPENING,
        waiting(500, 1),
        Phase::Ordered,
        running(),
        ending(Cause::Cancelled, None, 6_000),
        ending(Cause::Cancelled, Some(exec(100)), 6_000),
        Phase::Ended,
    ]
}
fn next(phase: Phase, event: Event, ms: u64) -> Step {
    step(&terms(), phase, event, at(ms))
}

/// A record of a job that ran from 100 ms to `until` after the receipt.
fn record(outcome: Outcome, ended_by: EndedBy, until: u64) -> ExitRecord {
    ExitRecord {
        outcome,
        ended_by,
        started_mono_ms: Some(at(100).mono.0),
        started_boot_ms: Some(at(100).boot.0),
        ended_mono_ms: at(until).mono.0,
        ended_boot_ms: at(until).boot.0,
        cpu_ms: Some(7),
        mem_peak_bytes: Some(4096),
        oom_kills: Some(0),
        stdout_end: 0,
        result_bytes: 0,
    }
}
fn gone(record: ExitRecord, written: &str) -> Event {
    let record = Some((record, written.as_bytes().to_vec()));
    Event::Gone(Box::new(End { record, last: LastSeen::default() }))
}
fn lost(oom_kills: u64) -> Event {
    let last = LastSeen {
        at: at(2_100).mono,
        cpu_ms: Some(11),
        mem_peak_bytes: Some(99),
        oom_kills,
    };
    Event::Gone(Box::new(End { record: None, last }))
}
fn conclusion(step: &Step) -> &Conclusion {
    assert_eq!(step.phase, Phase::Ended, "{step:?}");
    match step.effects.last() {
        Some(Effect::Conclude(said)) => said,
        other => panic!("no conclusion: {other:?}"),
    }
}
fn codes(step: &Step) -> Vec<ReasonCode> {
    conclusion(step).reasons.iter().map(|reason| reason.code).collect()
}

#[test]
fn the_way_of_a_job_that_runs() {
    let since = exec(100);
    let way = [
        (Event::Begin, OPENING, vec![Effect::Open]),
        (Event::Opened, Phase::Ordered, vec![Effect::Order]),
        (
            Event::Started(at(100).mono),
            Phase::Running { since },
            vec![Effect::SayStarted(since)],
        ),
        (Event::Tick(None), Phase::Running { since }, vec![]),
    ];
    let mut phase = Phase::Admitted;
    for (event, to, effects) in way {
        let said = format!("{event:?}");
        let step = next(phase, event, 120);
        assert_eq!(step, Step { phase: to, effects }, "{said}");
        phase = step.phase;
    }
    let ended = record(Outcome::Exited(0), EndedBy::Program, 2_600);
    let step = next(phase, gone(ended, "{\"n\":1}"), 2_700);
    let exit = &conclusion(&step).exit;
    assert_eq!(exit.reason, ExitReason::Exited);
    assert_eq!((exit.code, &exit.result), (Some(0), &json!({"n": 1})));
    assert_eq!(exit.usage.started_ms, Some(since.wall));
    assert_eq!(exit.usage.wall_ms, 2_500);
    assert_eq!(exit.usage.cpu_ms, Some(7));
    assert_eq!(exit.usage.mem_peak_bytes, Some(4096));
    assert_eq!(step.effects.len(), 1, "it was said before that it started");
}

#[test]
fn a_cancel_acts_in_every_phase() {
    for (phase, to, effects) in [
        (Phase::Ordered, ending(Cause::Cancelled, None, 6_200), 1),
        (running(), ending(Cause::Cancelled, Some(exec(100)), 6_200), 1),
    ] {
        let step = next(phase, Event::Cancel, 200);
        assert_eq!((step.phase, step.effects.len()), (to, effects));
        assert_eq!(step.effects, [Effect::Term]);
    }
    for (phase, before) in
        [(Phase::Admitted, 0), (OPENING, 1), (waiting(500, 1), 0)]
    {
        let step = next(phase, Event::Cancel, 200);
        let exit = &conclusion(&step).exit;
        assert_eq!(exit.reason, ExitReason::Cancelled, "{phase:?}");
        assert_eq!((exit.usage.wall_ms, exit.usage.started_ms), (0, None));
        let abandoned = step.effects[..before] == [Effect::Abandon][..before];
        assert!(abandoned && step.effects.len() == before + 1);
    }
}

#[test]
fn a_second_cause_changes_nothing() {
    let phases = [
        ending(Cause::Wall, Some(exec(100)), 900),
        ending(Cause::Cancelled, None, 900),
        Phase::Ended,
    ];
    for phase in phases {
        for event in [Event::Cancel, Event::Stop] {
            let step = next(phase, event, 200);
            assert_eq!(step, Step { phase, effects: vec![] });
        }
    }
}

#[test]
fn the_owners_stop_is_an_end_of_its_own() {
    let exit = conclusion(&next(OPENING, Event::Stop, 5)).exit.clone();
    assert_eq!(exit.reason, ExitReason::Stopped);
    let step = next(running(), Event::Stop, 200);
    let ended = record(Outcome::Signalled(15), EndedBy::Cancel, 300);
    let exit = conclusion(&next(step.phase, gone(ended, ""), 300)).exit.clone();
    assert_eq!((exit.reason, exit.code), (ExitReason::Stopped, None));
}

#[test]
fn a_time_to_live_that_ends_before_the_start_is_an_exit_without_wall_time() {
    for phase in [Phase::Admitted, OPENING, waiting(500, 1)] {
        let early = next(phase, Event::Tick(None), 59_999);
        assert!(early.phase != Phase::Ended, "{phase:?}");
        let step = next(phase, Event::Tick(None), 60_000);
        let exit = &conclusion(&step).exit;
        assert_eq!(exit.reason, ExitReason::Ttl);
        assert_eq!((exit.usage.wall_ms, exit.usage.started_ms), (0, None));
    }
}

#[test]
fn an_engine_that_is_away_is_asked_again_ever_more_rarely() {
    let away = || Event::NotOpened(OpenFault::Away("gone".into()));
    let mut phase = OPENING;
    let mut now = 0;
    for pause in [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000] {
        let step = next(phase, away(), now);
        assert_eq!(step.effects, []);
        let early = next(step.phase, Event::Tick(None), now + pause - 1);
        assert_eq!(early, Step { phase: step.phase, effects: vec![] });
        now += pause;
        let again = next(step.phase, Event::Tick(None), now);
        assert_eq!(again.effects, [Effect::Open]);
        phase = again.phase;
    }
}

#[test]
fn a_sandbox_that_is_refused_is_a_failed_job_that_never_started() {
    let refused = OpenFault::Refused("no such image".into());
    let step = next(OPENING, Event::NotOpened(refused), 10);
    assert_eq!(conclusion(&step).exit.reason, ExitReason::Failed);
    assert_eq!(codes(&step), [ReasonCode::CannotStart]);
}

#[test]
fn a_sandbox_that_stands_too_late_gets_no_orders() {
    let step = next(Phase::Ended, Event::Opened, 10);
    assert_eq!(step.effects, [Effect::Abandon]);
}

#[test]
fn deadlines_are_enforced_from_outside_a_second_after_pid_1_would() {
    let cpu = |ms| Some(Duration::from_millis(ms));
    for (phase, used, ms, cause) in [
        (running(), None, 11_099, None),
        (running(), None, 11_100, Some(Cause::Wall)),
        (running(), cpu(5_999), 6_000, None),
        (running(), cpu(6_000), 6_000, Some(Cause::Cpu)),
        (Phase::Ordered, None, 60_999, None),
        (Phase::Ordered, None, 61_000, Some(Cause::Ttl)),
    ] {
        let step = next(phase, Event::Tick(used), ms);
        let found = match step.phase {
            Phase::Ending { cause, .. } => Some(cause),
            Phase::Admitted
            | Phase::Opening { .. }
            | Phase::Waiting { .. }
            | Phase::Ordered
            | Phase::Running { .. }
            | Phase::Ended => None,
        };
        assert_eq!(found, cause, "{phase:?} at {ms} ms");
        assert_eq!(step.effects.contains(&Effect::Term), cause.is_some());
    }
}

#[test]
fn sleep_of_the_machine_is_no_job_time_but_counts_for_the_time_to_live() {
    let slept = Now { boot: BootMs(at(50_000).boot.0), ..at(1_000) };
    let step = super::step(&terms(), running(), Event::Tick(None), slept);
    assert_eq!(step, Step { phase: running(), effects: vec![] });
    let expired = Now { boot: BootMs(at(61_000).boot.0), ..at(1_000) };
    let step = super::step(&terms(), running(), Event::Tick(None), expired);
    assert_eq!(step.phase, ending(Cause::Ttl, Some(exec(100)), 7_000));
}

#[test]
fn a_sandbox_that_stays_is_killed_again_and_again() {
    let phase = ending(Cause::Cancelled, Some(exec(100)), 6_000);
    let early = next(phase, Event::Tick(None), 5_999);
    assert_eq!(early, Step { phase, effects: vec![] });
    let killed = next(phase, Event::Tick(None), 6_000);
    assert_eq!(killed.effects, [Effect::Kill]);
    let again = next(killed.phase, Event::Tick(None), 7_000);
    assert_eq!(again.effects, [Effect::Kill]);
}

#[test]
fn a_start_that_was_not_heard_is_said_before_the_exit() {
    let ended = record(Outcome::Exited(1), EndedBy::Program, 150);
    let step = next(Phase::Ordered, gone(ended, ""), 400);
    assert_eq!(step.effects[0], Effect::SayStarted(exec(100)));
    assert_eq!(conclusion(&step).exit.code, Some(1));
    let cancelled = ending(Cause::Cancelled, None, 6_000);
    let step = next(cancelled, Event::Started(at(100).mono), 400);
    assert_eq!(step.effects, [Effect::SayStarted(exec(100))]);
}

#[test]
fn a_start_that_is_said_twice_changes_nothing() {
    let ending = ending(Cause::Cancelled, Some(exec(100)), 6_000);
    for phase in [running(), ending] {
        let step = next(phase, Event::Started(at(100).mono), 400);
        assert_eq!(step, Step { phase, effects: vec![] });
    }
}

#[test]
fn what_does_not_belong_in_a_phase_is_refused_and_changes_nothing() {
    let ended = || gone(record(Outcome::Exited(0), EndedBy::Program, 300), "");
    let mono = at(1).mono;
    for phase in every_phase() {
        let allowed = |event: &Event| match event {
            Event::Begin => phase == Phase::Admitted,
            Event::Opened => [OPENING, Phase::Ended].contains(&phase),
            Event::Started(_) => {
                let unheard = ending(Cause::Cancelled, None, 6_000);
                [Phase::Ordered, unheard].contains(&phase)
            }
            Event::Gone(_) => {
                let without = [Phase::Admitted, OPENING, Phase::Ended];
                !without.contains(&phase) && phase != waiting(500, 1)
            }
            Event::NotOpened(_) => [OPENING, Phase::Ended].contains(&phase),
            Event::Cancel | Event::Stop | Event::Tick(_) => true,
        };
        for event in [
            Event::Begin,
            Event::Opened,
            Event::Started(mono),
            Event::NotOpened(OpenFault::Away(String::new())),
            ended(),
            Event::Cancel,
            Event::Stop,
            Event::Tick(None),
        ] {
            let (said, fine) = (format!("{event:?}"), allowed(&event));
            let step = next(phase, event, 200);
            let refused = matches!(step.effects[..], [Effect::Refused(_)]);
            assert_eq!(refused, !fine, "{said} in {phase:?}");
            assert!(!refused || step.phase == phase);
        }
    }
}

proptest! {
    #[test]
    fn a_job_ends_once_and_is_ordered_once(
        events in prop::collection::vec((0_u8..9, 0_u64..3_000), 1..60),
    ) {
        let (mut phase, mut now) = (Phase::Admitted, 0);
        let (mut concluded, mut ordered) = (0, 0);
        for (event, later) in events {
            now += later;
            let event = match event {
                0 => Event::Begin,
                1 => Event::Opened,
                2 => Event::Started(at(now).mono),
                3 => Event::Cancel,
                4 => Event::Stop,
                5 => Event::NotOpened(OpenFault::Away(String::new())),
                6 => lost(0),
                7 => gone(record(Outcome::Exited(0), EndedBy::Program, now), ""),
                _ => Event::Tick(Some(Duration::from_millis(now))),
            };
            let step = next(phase, event, now);
            for effect in &step.effects {
                concluded += usize::from(matches!(effect, Effect::Conclude(_)));
                ordered += usize::from(*effect == Effect::Order);
            }
            phase = step.phase;
            prop_assert_eq!(concluded == 1, phase == Phase::Ended);
            prop_assert!(concluded <= 1 && ordered <= 1);
        }
    }
}
