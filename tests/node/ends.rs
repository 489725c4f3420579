use crate::support::LONG;
use crate::support::daemon::{Daemon, Wants};
use crate::support::nats::Nats;
use crate::support::wait::eventually;
use crate::support::wire::{Dispatch, Story, new_id, sh};
use serde_json::Value;
use std::time::{Duration, Instant};

struct Stage {
    node: Daemon,
    dispatch: Dispatch,
    _nats: Nats,
}

impl Stage {
    async fn set() -> Self {
        Self::with("").await
    }

    async fn with(more: &str) -> Self {
        let nats = Nats::start();
        let wants = Wants::over(&nats.url());
        let wants = Wants { more: more.to_owned(), ..wants };
        let node = Daemon::ready(&wants).await;
        let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
        Self { node, dispatch, _nats: nats }
    }

    async fn limited(&self, script: &str, limit: &str, value: u64) -> Story {
        let mut job = sh(script);
        job["limits"][limit] = value.into();
        self.dispatch.run_job(job).await
    }

    async fn nothing_is_left(&self) {
        eventually("no container is left", LONG, || {
            self.node.containers().is_empty().then_some(())
        })
        .await;
        eventually("all slots are free", LONG, || {
            let class = self.node.status()?["classes"][0].clone();
            (class["free"] == class["slots"]).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_programs_own_code_is_told_as_it_is() {
    let stage = Stage::set().await;
    for code in [1, 2, 77, 125, 126, 127, 128, 137, 143, 255] {
        let story = stage.dispatch.run(&format!("exit {code}")).await;
        assert_eq!(story.end(), ("exited", Some(code)), "{story:?}");
        assert_eq!(story.exit()["result"], Value::Null);
    }
    // A signal of its own is no code.
    let story = stage.dispatch.run("kill -9 $$").await;
    assert_eq!(story.end(), ("exited", None), "{story:?}");
    stage.nothing_is_left().await;
}

#[tokio::test]
async fn time_cpu_and_memory_are_limits_that_end_a_job() {
    let stage = Stage::set().await;
    let wall = stage.limited("sleep 60", "wall_ms", 1000).await;
    assert_eq!(wall.end(), ("limit", None), "{wall:?}");
    assert!(wall.reasons[0].contains("wall"), "{:?}", wall.reasons);

    let cpu = stage.limited("while :; do :; done", "cpu_ms", 1000).await;
    assert_eq!(cpu.end(), ("limit", None), "{cpu:?}");
    assert!(cpu.reasons[0].contains("CPU"), "{:?}", cpu.reasons);

    let hog = "head -c 300000000 /dev/zero | tail -c 300000000 | wc -c";
    let memory = format!("exec sh -c '{hog}; exit 137'");
    let story = stage.dispatch.run(&memory).await;
    let told = story.reasons.join(" ");
    assert!(told.contains("oom_kill"), "{story:?}");
    stage.nothing_is_left().await;
}

#[tokio::test]
async fn a_job_that_the_kernel_ends_for_want_of_memory_reached_its_limit() {
    let stage = Stage::set().await;
    // One process: what fills the memory is the job itself.
    let hog = "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done";
    let story = stage.dispatch.run(hog).await;
    assert_eq!(story.end(), ("limit", None), "{story:?}");
    assert!(story.reasons[0].contains("oom_kill"), "{:?}", story.reasons);
    stage.nothing_is_left().await;
}

#[tokio::test]
async fn too_much_output_or_result_ends_a_job() {
    let more = "[caps]\noutput = \"1MiB\"\nresult = \"8KiB\"\n";
    let stage = Stage::with(more).await;
    let flood = stage.dispatch.run("yes").await;
    assert_eq!(flood.end(), ("limit", None), "{:?}", flood.exit());
    assert!(flood.reasons[0].contains("stdout"), "{:?}", flood.reasons);
    assert_eq!(flood.stdout().len(), 1 << 20, "what fits is told");
    let big = stage.dispatch.run("yes | head -c 9000 >&3; sleep 60").await;
    assert_eq!(big.end(), ("limit", None), "{:?}", big.exit());
    assert!(big.reasons[0].starts_with("limit_reached;"), "{:?}", big.reasons);
    stage.nothing_is_left().await;
}

#[tokio::test]
async fn a_result_that_is_not_one_json_value_is_null_and_says_so() {
    let stage = Stage::set().await;
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    for bad in ["{", "1 2", "{\"a\":1,\"a\":2}", "nul", deep.as_str()] {
        let story = stage.dispatch.run(&format!("echo '{bad}' >&3")).await;
        assert_eq!(story.end(), ("exited", Some(0)), "{bad}");
        assert_eq!(story.exit()["result"], Value::Null, "{bad}");
        let told = story.reasons.join(" ");
        assert!(told.starts_with("bad_result;"), "{bad}: {told}");
    }
    let story = stage.dispatch.run("true").await;
    assert_eq!(story.exit()["result"], Value::Null);
    assert!(story.reasons.is_empty(), "nothing was said, nothing is wrong");
}

#[tokio::test]
async fn a_cancel_ends_all_of_a_job_within_its_grace() {
    let stage = Stage::set().await;
    let forks = "trap '' TERM; (setsid sleep 600 &) ; \
                 for i in 1 2 3 4 5; do setsid sh -c \
                 'trap \"\" TERM; sleep 600' & done; echo up; sleep 600";
    let mut sent = stage.dispatch.send(sh(forks)).await;
    sent.until("job_stdout").await;
    let begun = Instant::now();
    for _ in 0..2 {
        let answer = stage.dispatch.about("job_cancel", &sent.id).await;
        assert_eq!(answer["type"], "ack", "{answer}");
    }
    let story = sent.story().await;
    assert_eq!(story.end(), ("cancelled", None), "{story:?}");
    // The grace is five seconds; the job ignores TERM and gets all of it.
    assert!(begun.elapsed() >= Duration::from_secs(4));
    stage.nothing_is_left().await;
    let late = stage.dispatch.about("job_cancel", &sent.id).await;
    let ended = late["type"] == "ack" || late["type"] == "job_exit";
    assert!(ended, "a cancel after the end changes nothing: {late}");
}

#[tokio::test]
async fn a_job_that_heeds_term_ends_at_once() {
    let stage = Stage::set().await;
    let polite = "trap 'echo bye; exit 3' TERM; echo up; \
                  while :; do sleep 0.1; done";
    let mut sent = stage.dispatch.send(sh(polite)).await;
    sent.until("job_stdout").await;
    stage.dispatch.about("job_cancel", &sent.id).await;
    let story = sent.story().await;
    assert_eq!(story.end(), ("cancelled", None), "{story:?}");
    assert_eq!(story.stdout(), "bye\n");
}

#[tokio::test]
async fn an_id_that_was_cancelled_before_it_came_never_runs() {
    let stage = Stage::set().await;
    let mut job = sh("echo never");
    job["id"] = new_id().into();
    let id = job["id"].as_str().unwrap();
    let unknown = stage.dispatch.about("job_cancel", id).await;
    assert_eq!(unknown["fault_code"], "bad_value", "{unknown}");
    let refused = stage.dispatch.send(job.clone()).await.answer;
    assert_eq!(refused["type"], "nack", "{refused}");
}

#[tokio::test]
async fn a_ttl_ends_what_runs_too_long() {
    let stage = Stage::set().await;
    let mut job = sh("sleep 60");
    job["ttl_ms"] = 3000.into();
    let story = stage.dispatch.run_job(job).await;
    assert_eq!(story.end(), ("ttl", None), "{story:?}");
    stage.nothing_is_left().await;
}

#[tokio::test]
async fn what_cannot_be_executed_is_failed_and_never_started() {
    let more = "[[artifact]]\nname = \"gone\"\nversion = \"1\"\n\
                class = \"function\"\nimage = \"ovnode/function:1\"\n\
                command = [\"/no/such/program\"]\n";
    let stage = Stage::with(more).await;
    let mut job = sh("");
    job["artifact"]["name"] = "gone".into();
    let story = stage.dispatch.run_job(job).await;
    assert_eq!(story.end(), ("failed", None), "{story:?}");
    assert!(story.of("job_started").is_empty());
    assert_eq!(story.exit()["usage"]["wall_ms"], 0);
    assert!(story.reasons[0].starts_with("cannot_start;"));
    stage.nothing_is_left().await;
}
