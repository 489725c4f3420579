use crate::sandbox::{Sandbox, boot_ms, run, script};
use ovnode::init::{EndedBy, Outcome, StderrTo, ToInit};
use std::fs;

/// A job that would go on for long, and ends when asked.
const LONG: &str = "exec sleep 3000";
/// One that does not even listen.
const DEAF: &str = "trap '' TERM; echo up; while :; do sleep 0.05; done";

#[test]
fn a_job_is_ended_when_its_wall_time_is_used_up() {
    let mut orders = script(LONG);
    orders.wall_ms = 200;
    let ended = run(orders).record;
    assert_eq!(ended.ended_by, EndedBy::Wall);
    assert_eq!(ended.outcome, Outcome::Signalled(15));
    assert!(ended.ended_mono_ms - ended.started_mono_ms.unwrap() >= 200);
}

#[test]
fn a_job_that_ignores_being_asked_is_killed_when_its_grace_ends() {
    let mut orders = script(DEAF);
    orders.wall_ms = 100;
    orders.grace_ms = 200;
    let ended = run(orders).record;
    assert_eq!(ended.ended_by, EndedBy::Wall);
    assert_eq!(ended.outcome, Outcome::Signalled(9));
    assert!(ended.ended_mono_ms - ended.started_mono_ms.unwrap() >= 300);
}

#[test]
fn a_job_keeps_its_own_code_within_its_grace() {
    let mut orders =
        script("trap 'echo bye; exit 3' TERM; while :; do sleep 0.05; done");
    orders.wall_ms = 300;
    // The shell says there that its `sleep` was ended, too.
    orders.stderr = StderrTo::Owner;
    let ended = run(orders);
    assert_eq!(ended.record.ended_by, EndedBy::Wall);
    assert_eq!(ended.record.outcome, Outcome::Exited(3));
    assert_eq!(ended.stdout, b"bye\n");
}

#[test]
fn a_job_is_ended_when_its_time_to_live_is_over() {
    let mut orders = script(LONG);
    orders.ttl_boot_ms = boot_ms() + 300;
    let ended = run(orders).record;
    assert_eq!(ended.ended_by, EndedBy::Ttl);
}

#[test]
fn a_job_whose_time_to_live_is_over_is_not_started() {
    let mut orders = script(LONG);
    orders.ttl_boot_ms = boot_ms();
    let ended = run(orders).record;
    assert_eq!(ended.ended_by, EndedBy::Ttl);
    assert!(matches!(ended.outcome, Outcome::CannotStart(_)));
    assert_eq!(ended.started_mono_ms, None);
}

#[test]
fn a_job_is_ended_when_its_cpu_time_is_used_up_and_told_what_it_used() {
    let cgroup = tempfile::tempdir().unwrap();
    let path = cgroup.path().to_str().unwrap().to_owned();
    let write = |name: &str, text: &str| {
        fs::write(cgroup.path().join(name), text).unwrap();
    };
    write("cpu.stat", "usage_usec 5000000\n");
    write("memory.peak", "12345\n");
    write("memory.events", "oom 0\noom_kill 2\n");
    let mut sandbox = Sandbox::new();
    let mut orders = script(LONG);
    orders.cpu_ms = 1000;
    let line = sandbox.begin(orders, &["--cgroup", &path]);
    write("cpu.stat", "usage_usec 6500000\n");
    let ended = sandbox.end(line).record;
    assert_eq!(ended.ended_by, EndedBy::Cpu);
    assert_eq!(ended.cpu_ms, Some(1500));
    assert_eq!(ended.mem_peak_bytes, Some(12345));
    assert_eq!(ended.oom_kills, Some(2));
}

#[test]
fn what_was_not_counted_is_absent() {
    let ended = run(script("true")).record;
    assert_eq!(ended.cpu_ms, None);
    assert_eq!(ended.mem_peak_bytes, None);
    assert_eq!(ended.oom_kills, None);
}

#[test]
fn a_job_that_writes_more_than_it_may_is_ended_and_the_rest_dropped() {
    let mut orders = script("exec yes");
    orders.output_bytes = 100_001;
    let ended = run(orders);
    assert_eq!(ended.record.ended_by, EndedBy::Output);
    assert_eq!(ended.record.stdout_end, 100_001);
    assert_eq!(ended.stdout, &b"y\n".repeat(50_001)[..100_001]);
}

#[test]
fn a_job_may_write_as_much_as_it_may() {
    let mut orders = script("printf 12345; printf 123 >&3");
    orders.output_bytes = 5;
    orders.result_bytes = 3;
    let ended = run(orders).record;
    assert_eq!(ended.ended_by, EndedBy::Program);
    assert_eq!(ended.outcome, Outcome::Exited(0));
}

#[test]
fn a_quick_job_does_not_slip_under_a_limit() {
    let mut orders = script("printf 123456");
    orders.output_bytes = 5;
    assert_eq!(run(orders).record.ended_by, EndedBy::Output);
    let mut orders = script("printf 1234 >&3");
    orders.result_bytes = 3;
    let ended = run(orders);
    assert_eq!(ended.record.ended_by, EndedBy::Result);
    assert_eq!(ended.result.as_deref(), Some(&b"123"[..]));
}

#[test]
fn a_job_whose_result_grows_too_long_is_ended() {
    let mut orders = script("exec yes >&3");
    orders.result_bytes = 1000;
    let ended = run(orders).record;
    assert_eq!(ended.ended_by, EndedBy::Result);
    assert_eq!(ended.result_bytes, 1000);
}

#[test]
fn a_cancelled_job_that_ignores_it_is_killed_when_the_grace_ends() {
    let mut sandbox = Sandbox::new();
    let mut line = sandbox.begin(script(DEAF), &[]);
    line.output(3);
    line.say(&ToInit::Cancel { grace_ms: 100 });
    // A second one changes nothing.
    line.say(&ToInit::Cancel { grace_ms: 3_600_000 });
    let ended = sandbox.end(line).record;
    assert_eq!(ended.ended_by, EndedBy::Cancel);
    assert_eq!(ended.outcome, Outcome::Signalled(9));
}

#[test]
fn a_stopped_job_can_heed_a_cancel() {
    let mut sandbox = Sandbox::new();
    let text = "trap 'exit 4' TERM; echo up; kill -STOP $$; sleep 3000";
    let mut line = sandbox.begin(script(text), &[]);
    line.output(3);
    line.say(&ToInit::Cancel { grace_ms: 3_600_000 });
    let ended = sandbox.end(line).record;
    assert_eq!(ended.ended_by, EndedBy::Cancel);
    assert_eq!(ended.outcome, Outcome::Exited(4));
}
