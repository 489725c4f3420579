use crate::support::LONG;
use crate::support::daemon::{Daemon, Wants};
use crate::support::nats::Nats;
use crate::support::recorder::Recorder;
use crate::support::wire::{Dispatch, sh};
use futures::StreamExt;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Hears the node's offers.
async fn offers(nats: &Nats, node: &str) -> async_nats::Subscriber {
    let client = nats.client().await;
    let subject = format!("ov.offer.user-owned.*.test.{node}.>");
    let heard = client.subscribe(subject).await.unwrap();
    client.flush().await.unwrap();
    heard
}

async fn until(
    heard: &mut async_nats::Subscriber,
    what: &str,
    holds: impl Fn(&Value) -> bool,
) -> Value {
    let found = async {
        loop {
            let said = heard.next().await.unwrap();
            let offer: Value = serde_json::from_slice(&said.payload).unwrap();
            if holds(&offer) {
                return offer;
            }
        }
    };
    tokio::time::timeout(LONG, found).await.expect(what)
}

#[tokio::test]
async fn an_offer_says_what_is_free_the_moment_it_changes() {
    let nats = Nats::start();
    let wants = Wants { slots: 2, ..Wants::over(&nats.url()) };
    let node = Daemon::start(&wants);
    let mut heard = offers(&nats, &node.node).await;

    let well = until(&mut heard, "it is up", |offer| {
        offer["health"]["status"] == "up"
            && offer["capacity"]["workers"]["function"] == 2
    })
    .await;
    assert_eq!(well["kind"], "node");
    assert_eq!(well["node_id"], node.node.as_str());
    let offer_id = format!("off_{}_node", node.node);
    assert_eq!(well["offer_id"], offer_id.as_str());
    let capabilities = well["capabilities"].to_string();
    assert!(capabilities.contains("worker:function"), "{capabilities}");
    assert!(well["capacity"]["memory"]["available_mb"].as_f64() > Some(0.0));
    assert!(well["capacity"]["disk"]["scratch_gb"].as_f64() > Some(0.0));
    assert!(well["health"]["checked_at"].is_string());
    assert!(well.get("detail").is_none() && well.get("adapter").is_none());

    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let mut held = dispatch.send(sh("echo up; sleep 600")).await;
    held.until("job_stdout").await;
    until(&mut heard, "one slot less", |offer| {
        offer["capacity"]["workers"]["function"] == 1
    })
    .await;
    dispatch.about("job_cancel", &held.id).await;
    until(&mut heard, "the slot is back", |offer| {
        offer["capacity"]["workers"]["function"] == 2
    })
    .await;
}

#[tokio::test]
async fn the_last_word_of_a_node_is_down() {
    let nats = Nats::start();
    let mut node = Daemon::ready(&Wants::over(&nats.url())).await;
    let mut heard = offers(&nats, &node.node).await;
    node.stop();
    let last =
        until(&mut heard, "down", |offer| offer["health"]["status"] == "down")
            .await;
    let capabilities = last["capabilities"].to_string();
    assert!(!capabilities.contains("worker:"), "{capabilities}");
}

#[tokio::test]
async fn a_runtime_offer_is_made_where_it_is_configured() {
    let nats = Nats::start();
    let more = "[offer]\nkinds = [\"node\", \"runtime\"]\n".to_owned();
    let wants = Wants { more, ..Wants::over(&nats.url()) };
    let node = Daemon::start(&wants);
    let mut heard = offers(&nats, &node.node).await;
    let runtime = until(&mut heard, "a runtime", |offer| {
        offer["kind"] == "runtime" && offer["health"]["status"] == "up"
    })
    .await;
    assert_eq!(runtime["detail"]["kind"], "function");
    assert!(runtime.get("capacity").is_none());
    assert!(!runtime["capabilities"].to_string().contains("worker:"));
}

/// The platform's own validator, where it lies beside the project, judges
/// what was really published.
#[tokio::test]
async fn an_independent_validator_agrees_with_all_that_was_said() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let check = root.join("../shared/contracts/check.py");
    if !check.exists() {
        eprintln!("no {}: judged by our own rules alone", check.display());
        return;
    }
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let mut recorder = Recorder::on(&dispatch.nats).await;
    dispatch.run("echo 1; sleep 1.5; echo '{}' >&3").await;
    recorder.check().await;
    assert!(recorder.offers().count() > 0);
    for (kind, contract) in [("offer", "resource-offer"), ("job", "job-frame")]
    {
        let of = |subject: &str| subject.split('.').nth(1) == Some(kind);
        let documents = recorder.documents.iter().filter(|it| of(&it.0));
        let lines: Vec<String> =
            documents.map(|(_, document)| document.to_string()).collect();
        let mut judge = Command::new(root.join("target/venv/bin/python"))
            .arg(fs::canonicalize(&check).unwrap())
            .args([contract, "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = judge.stdin.take().unwrap();
        stdin.write_all(lines.join("\n").as_bytes()).unwrap();
        drop(stdin);
        let said = judge.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&said.stdout);
        assert!(said.status.success(), "{text}");
    }
}
