use crate::support::daemon::{Daemon, Wants};
use crate::support::nats::Nats;
use crate::support::wire::{Dispatch, job_frame, new_id, sh};
use serde_json::{Value, json};

#[tokio::test]
async fn whatever_is_sent_gets_its_refusal_and_the_node_goes_on() {
    // The server's own limit is higher than a frame's, so that the node must
    // refuse what is too large by itself.
    let nats = Nats::with("max_payload: 8388608\n");
    let mut node = Daemon::ready(&Wants::over(&nats.url())).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;

    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let mut large = sh("");
    large["args"] = json!({ "fill": "x".repeat(1_000_001) });
    let many = (0..20_000).map(|n| (format!("k{n}"), Value::from(1)));
    let mut wide = sh("");
    wide["args"] = Value::Object(many.collect());
    let numbers = job_frame(&sh("")).replace("120000", "1e400");
    let table: Vec<(Vec<u8>, &str)> = vec![
        (b"".to_vec(), "bad_frame"),
        (b"not json".to_vec(), "bad_frame"),
        (b"null".to_vec(), "bad_frame"),
        (b"[]".to_vec(), "bad_frame"),
        (b"{\"v\":1,\"seq\":1,\"ts\":1,\"type\":\"job\"}".to_vec(), "bad_frame"),
        (b"{\"v\":2,\"seq\":1,\"ts\":1,\"type\":\"job\",\"job\":{}}".to_vec(), "bad_frame"),
        (b"{\"v\":1,\"seq\":1,\"ts\":1,\"type\":\"job_started\",\"id\":\"x\"}".to_vec(), "bad_frame"),
        (b"{\"v\":1,\"seq\":1,\"ts\":1,\"type\":\"job\",\"job\":[]}".to_vec(), "bad_frame"),
        (b"\xff\xfe{\"v\":1}".to_vec(), "bad_frame"),
        (deep.clone().into_bytes(), "bad_frame"),
        (format!("{{\"v\":1,\"seq\":1,\"ts\":1,\"type\":\"job\",\"job\":{deep}}}").into_bytes(), "bad_frame"),
        (numbers.into_bytes(), "bad_frame"),
        (job_frame(&large).into_bytes(), "bad_frame"),
    ];
    for (bytes, code) in table {
        let shown =
            String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
        let answer = dispatch.raw(bytes).await;
        assert_eq!(answer["type"], "nack", "{shown}: {answer}");
        assert_eq!(answer["fault_code"], code, "{shown}: {answer}");
    }
    assert!(node.lives());
    let story = dispatch.run_job(wide).await;
    assert_eq!(story.end().0, "exited", "wide args are no harm");
    let story = dispatch.run("echo well").await;
    assert_eq!(story.stdout(), "well\n");
    assert!(!node.log().contains("panicked"), "{}", node.log());
}

#[tokio::test]
async fn cancels_without_end_keep_no_job_out() {
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let greedy = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let mut refused = 0;
    for _ in 0..1_100 {
        let answer = greedy.about("job_cancel", &new_id()).await;
        assert_eq!(answer["type"], "nack", "{answer}");
        refused += u32::from(answer["fault_code"] == "not_ready");
    }
    assert!(refused > 0, "there is an end to what one may have remembered");
    assert_eq!(greedy.run("echo mine").await.stdout(), "mine\n");
    let other = Dispatch::connect(&nats.url(), &node.node, "d2").await;
    let answer = other.about("job_cancel", &new_id()).await;
    assert_eq!(answer["fault_code"], "bad_value", "{answer}");
    assert_eq!(other.run("echo too").await.stdout(), "too\n");
}

#[tokio::test]
async fn a_flood_of_jobs_hides_no_cancel() {
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let mut held = dispatch.send(sh("echo up; sleep 600")).await;
    held.until("job_stdout").await;
    let subject = dispatch.subject();
    let inbox = dispatch.nats.new_inbox();
    for _ in 0..20_000 {
        let frame = bytes::Bytes::from_static(b"{\"type\":\"job\"}");
        let (to, from) = (subject.clone(), inbox.clone());
        dispatch.nats.publish_with_reply(to, from, frame).await.unwrap();
    }
    let answer = dispatch.about("job_cancel", &held.id).await;
    assert_eq!(answer["type"], "ack", "{answer}");
    let exit = held.until("job_exit").await;
    assert_eq!(exit["reason"], "cancelled");
}
