use super::*;

#[test]
fn a_program_that_cannot_be_executed_never_started() {
    let mut ended = record(
        Outcome::CannotStart("no such file".into()),
        EndedBy::Program,
        150,
    );
    ended.started_mono_ms = None;
    let step = next(Phase::Ordered, gone(ended, ""), 400);
    let exit = &conclusion(&step).exit;
    assert_eq!(exit.reason, ExitReason::Failed);
    assert_eq!((exit.usage.wall_ms, exit.usage.started_ms), (0, None));
    assert_eq!(codes(&step), [ReasonCode::CannotStart]);
    assert_eq!(step.effects.len(), 1);
}

#[test]
fn who_ended_it_decides_the_reason() {
    use EndedBy as By;
    use ExitReason as Why;
    let cancelled = ending(Cause::Cancelled, Some(exec(100)), 6_000);
    let over_wall = ending(Cause::Wall, Some(exec(100)), 6_000);
    let killed = Outcome::Signalled(9);
    for (phase, outcome, by, reason, code) in [
        (running(), Outcome::Exited(3), By::Program, Why::Exited, Some(3)),
        (running(), Outcome::Exited(137), By::Program, Why::Exited, Some(137)),
        (running(), killed.clone(), By::Program, Why::Exited, None),
        (running(), Outcome::Signalled(11), By::Program, Why::Exited, None),
        (running(), killed.clone(), By::Wall, Why::Limit, None),
        (running(), Outcome::Exited(0), By::Cpu, Why::Limit, None),
        (running(), killed.clone(), By::Output, Why::Limit, None),
        (running(), killed.clone(), By::Result, Why::Limit, None),
        (running(), killed.clone(), By::Ttl, Why::Ttl, None),
        (running(), killed.clone(), By::Orphaned, Why::Failed, None),
        (running(), Outcome::Exited(0), By::Cancel, Why::Cancelled, None),
        (cancelled, Outcome::Exited(0), By::Cancel, Why::Cancelled, None),
        (cancelled, Outcome::Exited(4), By::Program, Why::Exited, Some(4)),
        (cancelled, killed.clone(), By::Program, Why::Cancelled, None),
        (cancelled, killed.clone(), By::Wall, Why::Limit, None),
        (over_wall, killed, By::Cancel, Why::Limit, None),
    ] {
        let said = format!("{outcome:?} by {by:?} in {phase:?}");
        let step = next(phase, gone(record(outcome, by, 300), "1"), 400);
        let exit = &conclusion(&step).exit;
        assert_eq!((exit.reason, exit.code), (reason, code), "{said}");
        assert_eq!(exit.result, Value::Null, "{said}");
    }
}

#[test]
fn only_what_the_kernel_killed_for_memory_is_marked_so() {
    use EndedBy as By;
    use ExitReason as Why;
    for (outcome, by, oom, reason, marked) in [
        (Outcome::Signalled(9), By::Program, 1, Why::Limit, true),
        (Outcome::Exited(0), By::Program, 1, Why::Exited, true),
        (Outcome::Exited(137), By::Program, 1, Why::Exited, true),
        (Outcome::Exited(137), By::Program, 0, Why::Exited, false),
        (Outcome::Signalled(9), By::Program, 0, Why::Exited, false),
        (Outcome::Signalled(9), By::Wall, 1, Why::Limit, true),
        (Outcome::Signalled(9), By::Cancel, 0, Why::Cancelled, false),
    ] {
        let said = format!("{outcome:?} by {by:?} with {oom}");
        let mut ended = record(outcome, by, 300);
        ended.oom_kills = Some(oom);
        let step = next(running(), gone(ended, ""), 400);
        assert_eq!(conclusion(&step).exit.reason, reason, "{said}");
        let found = codes(&step).contains(&ReasonCode::OomKill);
        assert_eq!(found, marked, "{said}");
    }
}

#[test]
fn a_result_counts_only_of_a_program_that_exited_with_0() {
    for (written, result, code) in [
        ("", json!(null), None),
        ("[1,2]", json!([1, 2]), None),
        ("1 2", json!(null), Some(ReasonCode::BadResult)),
        ("{\"a\":1,\"a\":2}", json!(null), Some(ReasonCode::BadResult)),
    ] {
        let ended = record(Outcome::Exited(0), EndedBy::Program, 300);
        let step = next(running(), gone(ended, written), 400);
        let exit = &conclusion(&step).exit;
        assert_eq!((exit.reason, exit.code), (ExitReason::Exited, Some(0)));
        assert_eq!(exit.result, result, "{written}");
        assert_eq!(codes(&step), Vec::from_iter(code), "{written}");
    }
    let ended = record(Outcome::Exited(0), EndedBy::Program, 300);
    let long = format!("\"{}\"", "x".repeat(40));
    let step = next(running(), gone(ended, &long), 400);
    assert_eq!(conclusion(&step).exit.reason, ExitReason::Limit);
    assert_eq!(codes(&step), [ReasonCode::LimitReached]);
}

#[test]
fn a_sandbox_that_dies_without_a_record_is_judged_by_what_was_seen_last() {
    let cancelled = ending(Cause::Cancelled, Some(exec(100)), 6_000);
    for (phase, oom, reason, code) in [
        (running(), 0, ExitReason::Failed, Some(ReasonCode::SandboxLost)),
        (running(), 1, ExitReason::Limit, Some(ReasonCode::OomKill)),
        (cancelled, 0, ExitReason::Cancelled, None),
    ] {
        let step = next(phase, lost(oom), 3_000);
        let exit = &conclusion(&step).exit;
        assert_eq!(exit.reason, reason);
        assert_eq!(exit.usage.wall_ms, 2_000);
        assert_eq!(exit.usage.cpu_ms, Some(11));
        assert_eq!(exit.usage.mem_peak_bytes, Some(99));
        assert_eq!(codes(&step), Vec::from_iter(code));
    }
    let step = next(Phase::Ordered, lost(0), 3_000);
    assert_eq!(conclusion(&step).exit.usage.wall_ms, 0);
}
