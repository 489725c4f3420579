use crate::sandbox::{Sandbox, script, within};
use ovnode::init::{EndedBy, FromInit, Outcome, Phase, ToInit, names};
use std::fs;

#[test]
fn a_daemon_that_comes_back_is_told_where_things_are() {
    let mut sandbox = Sandbox::new();
    let mut line = sandbox.begin(script("echo up; sleep 3000"), &[]);
    line.output(3);
    drop(line);
    let mut line = sandbox.accept();
    let phase = Phase::Begun;
    assert_eq!(line.hear(), FromInit::Ready { phase });
    assert!(matches!(line.hear(), FromInit::Started { .. }));
    assert_eq!(line.hear(), FromInit::Output { end: 3 });
    line.say(&ToInit::Cancel { grace_ms: 0 });
    let ended = sandbox.end(line).record;
    assert_eq!(ended.ended_by, EndedBy::Cancel);
}

#[test]
fn a_job_ends_as_well_with_nobody_there() {
    let mut sandbox = Sandbox::new();
    let text = "sleep 0.3; echo late; printf 1 >&3; exit 5";
    let line = sandbox.begin(script(text), &[]);
    drop(line);
    fs::remove_file(sandbox.path().join(names::SOCKET)).unwrap();
    assert!(sandbox.exit().success());
    let ended = sandbox.left();
    assert_eq!(ended.record.outcome, Outcome::Exited(5));
    assert_eq!(ended.stdout, b"late\n");
    assert_eq!(ended.result.as_deref(), Some(&b"1"[..]));
}

#[test]
fn deadlines_hold_with_nobody_there() {
    let mut sandbox = Sandbox::new();
    let mut orders = script("sleep 3000");
    orders.wall_ms = 300;
    drop(sandbox.begin(orders, &[]));
    assert!(sandbox.exit().success());
    assert_eq!(sandbox.left().record.ended_by, EndedBy::Wall);
}

#[test]
fn a_daemon_that_does_not_read_holds_up_nothing() {
    let mut sandbox = Sandbox::with_ring(1000);
    // Every line is a word to the daemon, more than its socket takes.
    let text = "i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done; \
        sleep 0.1; exec seq 1 1000000";
    let line = sandbox.begin(script(text), &[]);
    let exit = sandbox.exit();
    assert!(exit.success());
    let ended = sandbox.left();
    assert_eq!(ended.record.outcome, Outcome::Exited(0));
    assert_eq!(ended.record.stdout_end, 13_890 + 6_888_896);
    drop(line);
}

#[test]
fn a_sandbox_waits_for_a_daemon_that_is_not_there_yet() {
    let mut sandbox = Sandbox::new();
    let socket = sandbox.path().join(names::SOCKET);
    let aside = sandbox.path().join("aside");
    fs::rename(&socket, &aside).unwrap();
    sandbox.start(&[]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    fs::rename(&aside, &socket).unwrap();
    let mut line = sandbox.accept();
    line.run(script("exit 6"));
    let ended = sandbox.end(line).record;
    assert_eq!(ended.outcome, Outcome::Exited(6));
}

#[test]
fn a_daemon_that_was_restarted_can_still_give_the_orders() {
    let mut sandbox = Sandbox::new();
    sandbox.start(&[]);
    drop(sandbox.accept());
    let mut line = sandbox.accept();
    line.run(script("exit 8"));
    let ended = sandbox.end(line).record;
    assert_eq!(ended.outcome, Outcome::Exited(8));
}

#[test]
fn later_orders_and_nonsense_do_not_touch_a_running_job() {
    let mut sandbox = Sandbox::new();
    let mut line = sandbox
        .begin(script("echo up; read x < /dev/null; sleep 0.3; exit 9"), &[]);
    line.say(&ToInit::Run(Box::new(script("exit 1"))));
    line.say_raw(b"nonsense\n");
    let ended = sandbox.end(line).record;
    assert_eq!(ended.outcome, Outcome::Exited(9));
}

#[test]
fn the_start_is_told_before_the_output_and_the_end_last() {
    let mut sandbox = Sandbox::new();
    let mut line = sandbox.begin(script("echo up"), &[]);
    assert_eq!(line.hear(), FromInit::Output { end: 3 });
    assert_eq!(line.hear(), FromInit::Ended);
    within(|| sandbox.path().join(names::EXIT).exists().then_some(()));
}
