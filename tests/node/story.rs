use crate::support::LONG;
use crate::support::daemon::{Daemon, Wants};
use crate::support::nats::Nats;
use crate::support::recorder::Recorder;
use crate::support::wait::eventually;
use crate::support::wire::{Dispatch, job_frame, new_id, sh};
use serde_json::json;

#[tokio::test]
async fn a_job_is_told_from_its_start_to_its_end() {
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let mut recorder = Recorder::on(&dispatch.nats).await;

    let script = "echo one; sleep 2.2; echo two; printf '{\"n\":3}' >&3";
    let story = dispatch.run(script).await;

    assert_eq!(story.end(), ("exited", Some(0)), "{story:?}");
    assert_eq!(story.stdout(), "one\ntwo\n");
    assert_eq!(story.exit()["result"], json!({ "n": 3 }));
    assert_eq!(story.frames[0]["type"], "job_started");
    let usage = &story.exit()["usage"];
    assert_eq!(usage["started_ms"], story.frames[0]["started_ms"]);
    assert!(usage["wall_ms"].as_u64().unwrap() >= 2200, "{usage}");
    assert!(usage["cpu_ms"].as_u64().is_some(), "{usage}");
    assert!(usage["mem_peak_bytes"].as_u64().unwrap() > 0, "{usage}");
    assert_eq!(story.of("job_usage").len(), 2, "two whole seconds");
    recorder.check().await;
    eventually("its sandbox is gone", LONG, || {
        node.containers().is_empty().then_some(())
    })
    .await;
}

#[tokio::test]
async fn output_comes_whole_and_in_order_however_much_it_is() {
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;

    // Characters of two to four bytes meet every edge of every chunk.
    let script = "i=0; while [ $i -lt 60000 ]; do \
                  echo \"$i aäö€😀\"; i=$((i+1)); done";
    let story = dispatch.run(script).await;

    assert_eq!(story.end(), ("exited", Some(0)));
    let wanted: String = (0..60_000).map(|i| format!("{i} aäö€😀\n")).collect();
    assert!(story.stdout() == wanted, "not a byte differs");
    let numbers: Vec<u64> = story
        .of("job_stdout")
        .iter()
        .map(|frame| frame["chunk_seq"].as_u64().unwrap())
        .collect();
    assert!(numbers.iter().copied().eq(1..=numbers.len() as u64));
}

#[tokio::test]
async fn the_last_words_of_short_jobs_are_never_lost() {
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    for _ in 0..20 {
        let story = dispatch.run("printf done").await;
        assert_eq!(story.stdout(), "done");
        assert_eq!(story.end(), ("exited", Some(0)));
    }
}

#[tokio::test]
async fn a_repeated_job_is_answered_and_not_run_again() {
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let job = sh("echo once; sleep 1");

    let mut sent = dispatch.send(job.clone()).await;
    let again = dispatch.raw(job_frame(&job)).await;
    assert_eq!(again["type"], "ack", "{again}");
    let story = sent.story().await;
    assert_eq!(story.stdout(), "once\n");

    let ended = dispatch.raw(job_frame(&job)).await;
    assert_eq!(&ended, story.exit(), "its exit, the same bytes");

    let mut other = job.clone();
    other["args"] = json!({ "sh64": "" });
    let refused = dispatch.raw(job_frame(&other)).await;
    assert_eq!(refused["fault_code"], "bad_value", "{refused}");
    let stranger = Dispatch::connect(&nats.url(), &node.node, "d2").await;
    let refused = stranger.raw(job_frame(&job)).await;
    assert_eq!(refused["fault_code"], "not_allowed", "{refused}");
}

#[tokio::test]
async fn an_exit_is_said_again_until_it_is_acknowledged() {
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let mut sent = dispatch.send(sh("true")).await;
    let first = sent.until("job_exit").await;
    let second = sent.until("job_exit").await;
    assert_eq!(first, second);
    let acked = dispatch.about("job_exit_ack", &sent.id).await;
    assert_eq!(acked["type"], "ack", "{acked}");
    let unknown = dispatch.about("job_exit_ack", &new_id()).await;
    assert_eq!(unknown["fault_code"], "bad_value", "{unknown}");
}
