use crate::support::daemon::{Daemon, Wants};
use crate::support::nats::Nats;
use crate::support::wire::{Dispatch, job_frame, sh};
use rustix::process::Signal;

#[tokio::test]
async fn nothing_is_promised_twice_after_a_crash() {
    let nats = Nats::start();
    let wants = Wants { slots: 2, ..Wants::over(&nats.url()) };
    let mut node = Daemon::ready(&wants).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let job = sh("echo up; while :; do :; done");
    let mut held = dispatch.send(job.clone()).await;
    held.until("job_stdout").await;
    let before = node.containers();
    assert_eq!(before.len(), 1);

    node.crash();
    node.run_again();
    node.offers_function().await;
    // A slot is offered only once the processes of before are gone.
    let now = node.containers();
    assert!(!now.contains(&before[0]), "{before:?} {now:?}");
    let again = dispatch.raw(job_frame(&job)).await;
    assert_eq!(again["fault_code"], "bad_value", "never twice: {again}");
    let cancel = dispatch.about("job_cancel", &held.id).await;
    assert_eq!(cancel["fault_code"], "bad_value", "{cancel}");
    assert_eq!(dispatch.run("echo new").await.stdout(), "new\n");
}

#[tokio::test]
async fn a_terminal_that_closes_ends_no_job() {
    let nats = Nats::start();
    let mut node = Daemon::ready(&Wants::over(&nats.url())).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let mut held = dispatch.send(sh("echo up; sleep 2; echo end")).await;
    held.until("job_stdout").await;
    node.signal(Signal::HUP);
    let exit = held.until("job_exit").await;
    assert_eq!((&exit["reason"], &exit["code"]), (&"exited".into(), &0.into()));
    assert!(node.lives());
}
