use crate::support::LONG;
use crate::support::daemon::{Daemon, Wants};
use crate::support::nats::Nats;
use crate::support::wait::eventually;
use crate::support::wire::{Dispatch, job_frame, now_ms, sh};
use serde_json::{Value, json};

/// A job of `sh@1` with one thing changed.
fn but(path: &str, value: Value) -> Value {
    let mut job = sh("echo must not run");
    match job.pointer_mut(path) {
        Some(place) => *place = value,
        None => job[path.trim_start_matches('/')] = value,
    }
    job
}

fn without(key: &str) -> Value {
    let mut job = sh("echo must not run");
    job.as_object_mut().unwrap().remove(key);
    job
}

/// Jobs that break one rule, and what each is answered.
fn breaches() -> Vec<(Value, &'static str)> {
    let old = ulid::Ulid::from_parts(1_000_000, 7);
    let ahead = ulid::Ulid::from_parts(now_ms() + 600_000, 7);
    let huge = 1_u64 << 50;
    let version = json!({ "name": "sh", "version": "9" });
    vec![
        (without("id"), "bad_value"),
        (but("/id", json!("job_x")), "bad_value"),
        (but("/id", json!(format!("job_{old}"))), "bad_value"),
        (but("/id", json!(format!("job_{ahead}"))), "bad_value"),
        (but("/ttl_ms", json!("1")), "bad_frame"),
        (but("/surprise", json!(1)), "bad_frame"),
        (without("class"), "bad_value"),
        (but("/class", json!("quantum")), "unsupported"),
        (without("artifact"), "bad_value"),
        (but("/net", json!("public")), "unsupported"),
        (but("/net", json!("everything")), "unsupported"),
        (but("/ttl_ms", json!(0)), "bad_value"),
        (without("args"), "bad_value"),
        (but("/class", json!("code")), "unsupported"),
        (but("/artifact", version), "unsupported"),
        (but("/limits/mem_bytes", json!(huge)), "unsupported"),
        (but("/limits/wall_ms", json!(huge)), "unsupported"),
        (but("/limits/cpu_ms", json!(huge)), "unsupported"),
    ]
}

#[tokio::test]
async fn each_refusal_has_its_code_and_leaves_nothing_behind() {
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let table = breaches();
    for (job, code) in &table {
        let answer = dispatch.raw(job_frame(job)).await;
        assert_eq!(answer["type"], "nack", "{job}: {answer}");
        assert_eq!(answer["fault_code"], *code, "{job}: {answer}");
        let text = answer["message"].as_str().unwrap();
        assert!(text.len() > 10, "a sentence: {text}");
    }
    let caps = dispatch.raw(job_frame(&table[15].0)).await;
    let message = caps["message"].as_str().unwrap();
    let number = |c: char| c.is_ascii_digit();
    assert!(message.matches(number).count() > 1, "numbers: {message}");

    eventually("no container is left", LONG, || {
        node.containers().is_empty().then_some(())
    })
    .await;
    let status = node.status().unwrap();
    assert_eq!(status["jobs"]["held"], 0);
    let refusals = status["refusals"].as_array().unwrap();
    assert_eq!(refusals.len(), table.len() + 1, "each is in status");
}

#[tokio::test]
async fn a_full_node_says_so_and_takes_the_next_when_a_slot_is_free() {
    let nats = Nats::start();
    let wants = Wants { slots: 1, ..Wants::over(&nats.url()) };
    let node = Daemon::ready(&wants).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;

    let mut first = dispatch.send(sh("echo up; sleep 600")).await;
    assert_eq!(first.answer["type"], "ack");
    let second = dispatch.send(sh("echo second")).await;
    assert_eq!(second.answer["fault_code"], "not_ready");
    first.until("job_stdout").await;
    dispatch.about("job_cancel", &first.id).await;
    first.until("job_exit").await;
    let third = dispatch.run("echo third").await;
    assert_eq!(third.stdout(), "third\n");
}

#[tokio::test]
async fn an_ask_is_answered_with_what_a_dispatcher_may_know() {
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let ask = |what: &str| {
        let subject = format!("ov.node.{}.ask.{what}.d1", node.node);
        let nats = dispatch.nats.clone();
        async move {
            let said = nats.request(subject, "".into()).await.unwrap();
            serde_json::from_slice::<Value>(&said.payload).unwrap()
        }
    };
    let artifacts = ask("artifacts").await;
    let sh = &artifacts["artifacts"][0];
    assert_eq!(sh["name"], "sh");
    assert_eq!(sh["version"], "1");
    assert_eq!(sh["class"], "function");
    assert_eq!(sh["ready"], true);
    assert!(sh["digest"].as_str().unwrap().starts_with("sha256:"));
    let status = ask("status").await;
    assert_eq!(status["node"]["id"], node.node.as_str());
    assert_eq!(status["health"]["status"], "up");
    let state = node.path("state").display().to_string();
    assert!(!status.to_string().contains(&state), "no path of the owner's");
}
