use crate::sandbox::{Sandbox, run, script, within};
use ovnode::init::{EndedBy, Outcome, ToInit};
use std::fs;

#[test]
fn what_a_job_leaves_behind_dies_with_it_and_delays_nothing() {
    let text = "setsid sh -c 'echo $$; trap \"\" TERM HUP; \
        while :; do sleep 1; done' & \
        (setsid sleep 3000 &) ; sleep 0.2; printf '{}' >&3; exit 7";
    let ended = run(script(text));
    assert_eq!(ended.record.outcome, Outcome::Exited(7));
    assert_eq!(ended.record.ended_by, EndedBy::Program);
    assert_eq!(ended.result.as_deref(), Some(&b"{}"[..]));
    let text = String::from_utf8(ended.stdout).unwrap();
    let pid = text.trim();
    assert!(!fs::exists(format!("/proc/{pid}")).unwrap());
}

#[test]
fn a_cancel_reaches_a_daemon_of_the_job() {
    let text = "setsid sh -c 'trap \"echo heard; exit\" TERM; echo up; \
        while :; do sleep 0.05; done' & wait; wait";
    let mut sandbox = Sandbox::new();
    let mut line = sandbox.begin(script(text), &[]);
    line.output(3);
    line.say(&ToInit::Cancel { grace_ms: 200 });
    let ended = sandbox.end(line).record;
    assert_eq!(ended.ended_by, EndedBy::Cancel);
}

#[test]
fn orphans_are_reaped_as_they_die() {
    // Each `(true &)` leaves an orphan behind. None may stay as a zombie
    // while the job goes on.
    let text = "i=0; while [ $i -lt 2000 ]; do (true &); i=$((i+1)); done; \
        echo done; sleep 3000";
    let mut sandbox = Sandbox::new();
    let mut line = sandbox.begin(script(text), &[]);
    line.output(5);
    let pid = sandbox.pid();
    let children = format!("/proc/{pid}/task/{pid}/children");
    within(|| {
        let left = fs::read_to_string(&children).unwrap();
        (left.split_whitespace().count() == 1).then_some(())
    });
    line.say(&ToInit::Cancel { grace_ms: 0 });
    let ended = sandbox.end(line).record;
    assert_eq!(ended.ended_by, EndedBy::Cancel);
}

#[test]
fn a_quiet_sandbox_sleeps() {
    let mut sandbox = Sandbox::new();
    let mut line = sandbox.begin(script("echo up; sleep 3000"), &[]);
    line.output(3);
    let status = format!("/proc/{}/status", sandbox.pid());
    let wakes = || -> u64 {
        let text = fs::read_to_string(&status).unwrap();
        let name = "voluntary_ctxt_switches:";
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim().parse().unwrap()
    };
    std::thread::sleep(std::time::Duration::from_millis(300));
    let before = wakes();
    std::thread::sleep(std::time::Duration::from_secs(2));
    let woken = wakes() - before;
    assert!(woken <= 4, "it woke {woken} times in 2 s");
    line.say(&ToInit::Cancel { grace_ms: 0 });
    sandbox.end(line);
}
