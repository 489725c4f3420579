//! The dispatcher's client and the examples, against a node that only
//! pretends, over a real NATS server.

#[expect(dead_code, reason = "this file uses a part of the harness")]
mod support;

use futures::StreamExt;
use ovnode::link::client::{FrameSeen, OfferNews, Sent};
use serde_json::json;
use std::time::Duration;
use support::dispatch::{dispatcher, python, run_example, rust, said, token};
use support::link::{Running, config};
use support::nats::Nats;
use support::soon;
use support::stub::{OFFER, Stub};

const JOB: &str = "job_01ARZ3NDEKTSV4RRFFQ69G5FAV";

const USUAL: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_job_is_sent_followed_and_its_exit_acknowledged() {
    let nats = Nats::start();
    let mut stub = Stub::over(Running::serving(config(&nats.url())).await);
    let dispatcher = dispatcher(&nats, USUAL).await;
    let job = json!({"id": JOB, "args": {"x": 1}});
    let dispatch = async {
        let mut run = dispatcher.job(token("n1"), job).await.unwrap();
        assert_eq!(run.send().await.unwrap(), Sent::Taken);
        let mut kinds = Vec::new();
        let exit = loop {
            let frame = run.next().await.unwrap();
            kinds.push(frame.kind.clone());
            if frame.kind == "exit" {
                break frame.exit().unwrap();
            }
        };
        assert_eq!(kinds, ["started", "stdout", "usage", "exit"]);
        assert!(exit.is_well());
        assert_eq!(exit.result, json!({"x": 1}));
        assert_eq!(run.ack_exit().await.unwrap(), Sent::Taken);
    };
    soon(async { tokio::join!(stub.serve(), dispatch) }).await;
    assert_eq!(stub.asked, ["job", "job_exit_ack"]);
}

#[tokio::test]
async fn nobody_listening_means_that_it_did_not_run() {
    let nats = Nats::start();
    let dispatcher = dispatcher(&nats, USUAL).await;
    let run = dispatcher.job(token("gone"), json!({"id": JOB})).await.unwrap();
    assert_eq!(run.send().await.unwrap(), Sent::NobodyThere);
}

#[tokio::test]
async fn what_another_node_says_about_a_job_is_skipped() {
    let nats = Nats::start();
    let dispatcher = dispatcher(&nats, USUAL).await;
    let mut run =
        dispatcher.job(token("n1"), json!({"id": JOB})).await.unwrap();
    // The request proves that the story's subscription has arrived.
    assert_eq!(run.send().await.unwrap(), Sent::NobodyThere);
    let other = nats.client().await;
    for node in ["n2", "n1"] {
        let subject = format!("ov.job.{JOB}.d1.{node}.exit");
        other.publish(subject, node.into()).await.unwrap();
    }
    assert_eq!(soon(run.next()).await.unwrap().payload, "n1");
}

#[test]
fn an_exit_is_one_only_where_it_is_this_jobs_and_the_contracts() {
    let exit = |id: &str| {
        json!({"v": 1, "seq": 4, "ts": 1, "type": "job_exit", "id": id,
            "reason": "exited", "code": 0, "result": null,
            "usage": {"started_ms": 5, "wall_ms": 1200}})
    };
    let mut strange = exit(JOB);
    strange["reason"] = json!("bored");
    let other = "job_01ARZ3NDEKTSV4RRFFQ69G5FAW";
    for (frame, is_exit) in
        [(exit(JOB), true), (exit(other), false), (strange, false)]
    {
        let seen = FrameSeen {
            id: JOB.to_owned().try_into().unwrap(),
            kind: "exit".to_owned(),
            payload: frame.to_string().into(),
            reasons: Vec::new(),
        };
        assert_eq!(seen.exit().is_some_and(|exit| exit.is_well()), is_exit);
    }
}

#[tokio::test]
async fn an_answer_that_is_not_the_contracts_tells_nothing() {
    let nats = Nats::start();
    let node = nats.client().await;
    let mut asked = node.subscribe("ov.node.n1.in.d1").await.unwrap();
    node.flush().await.unwrap();
    let dispatcher = dispatcher(&nats, USUAL).await;
    let run = dispatcher.job(token("n1"), json!({"id": JOB})).await.unwrap();
    let other = "job_01ARZ3NDEKTSV4RRFFQ69G5FAW";
    for (answer, taken) in [
        (json!({"v": 1, "seq": 1, "ts": 1, "type": "ack", "id": JOB}), true),
        (json!({"v": 1, "seq": 1, "ts": 1, "type": "ack", "id": other}), false),
        (json!({"type": "nack"}), false),
        (json!({"type": "ack"}), false),
    ] {
        let answered = async {
            let reply = asked.next().await.unwrap().reply.unwrap();
            node.publish(reply, answer.to_string().into()).await.unwrap();
        };
        let (sent, ()) =
            soon(async { tokio::join!(run.send(), answered) }).await;
        assert_eq!(sent.is_ok(), taken, "{answer}: {sent:?}");
    }
}

#[tokio::test]
async fn offers_are_believed_by_subject_and_gone_when_not_refreshed() {
    let nats = Nats::start();
    let dispatcher = dispatcher(&nats, Duration::from_millis(200)).await;
    let mut offers = dispatcher.offers().await.unwrap();
    // An answered request proves that the subscription has arrived.
    drop(dispatcher.status(&token("nobody")).await);
    let liar = nats.client().await;
    liar.publish(OFFER, r#"{"node_id":"n2"}"#.into()).await.unwrap();
    liar.flush().await.unwrap();
    let stub = Stub::over(Running::serving(config(&nats.url())).await);
    assert_eq!(said(&mut offers).await, "n1");
    assert_eq!(offers.unbelieved(), 1);
    drop(stub);
    let gone = async {
        loop {
            if let Some(OfferNews::Gone(subject)) = offers.next().await {
                return subject;
            }
        }
    };
    assert_eq!(soon(gone).await, OFFER);
}

#[tokio::test]
async fn a_node_tells_its_artifacts_and_status() {
    let nats = Nats::start();
    let mut stub = Stub::over(Running::serving(config(&nats.url())).await);
    let dispatcher = dispatcher(&nats, USUAL).await;
    let node = token("n1");
    let ask = async {
        let artifacts = dispatcher.artifacts(&node).await.unwrap();
        let status = dispatcher.status(&node).await.unwrap();
        (artifacts, status)
    };
    let (artifacts, status) = soon(async {
        tokio::select! {
            () = stub.serve() => panic!("nothing was acknowledged"),
            told = ask => told,
        }
    })
    .await;
    assert_eq!(artifacts[0].name, "echo");
    assert!(artifacts[0].ready);
    assert_eq!(status, json!({"node": "n1"}));
}

fn kinds(printed: &str) -> Vec<&str> {
    let first = |line: &'_ str| line.find(' ').unwrap_or(line.len());
    printed.lines().map(|line| &line[..first(line)]).collect()
}

const STORY: [&str; 4] = ["started", "stdout", "usage", "exit"];

#[tokio::test]
async fn the_example_in_rust_runs_a_job_to_its_end() {
    for (args, ends) in [(r#"{"x": 1}"#, 0), (r#"{"code": 3}"#, 1)] {
        let Some(command) = rust() else { return };
        let (code, printed) = run_example(command, args).await;
        assert_eq!((code, kinds(&printed)), (ends, STORY.to_vec()));
    }
}

#[tokio::test]
async fn the_example_in_python_runs_a_job_to_its_end() {
    let Some(command) = python() else { return };
    let (code, printed) = run_example(command, r#"{"x": 1}"#).await;
    assert_eq!((code, kinds(&printed)), (0, STORY.to_vec()));
}
