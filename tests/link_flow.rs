//! What passes through the link, over a real NATS server.

#[expect(dead_code, reason = "this file uses a part of the harness")]
mod support;

use futures::{FutureExt, StreamExt};
use ovnode::contract::{AskKind, Reason, ReasonCode};
use ovnode::link::{LinkError, LinkState, OfferOut, Outgoing};
use serde_json::{Value, json};
use std::time::Duration;
use support::link::{Running, config};
use support::nats::Nats;
use support::proxy::Proxy;
use support::recorder::Recorder;
use support::soon;
use tokio::task::unconstrained;

const FLUSH: Duration = Duration::from_secs(20);

#[tokio::test]
async fn frames_queued_while_the_link_is_down_go_out_in_order_later() {
    let nats = Nats::start();
    let proxy = Proxy::to(nats.port()).await;
    let mut recorder = Recorder::of(&nats, "ov.job.j.>").await;
    let link = Running::serving(config(&proxy.url())).await;
    proxy.cut();
    link.until(|state| !state.serving()).await;
    for n in 0..200 {
        link.frame("ov.job.j.d.n1.stdout", n.to_string()).await;
    }
    proxy.pass();
    link.handle.flush(FLUSH).await.unwrap();
    for n in 0..200 {
        assert_eq!(recorder.next().await.text, n.to_string());
    }
}

#[tokio::test]
async fn what_a_session_had_taken_and_not_sent_goes_out_in_the_next() {
    const OUTBOX: usize = 256;
    let nats = Nats::start();
    let proxy = Proxy::to(nats.port()).await;
    let mut recorder = Recorder::of(&nats, "ov.job.j.>").await;
    let mut config = config(&proxy.url());
    // The session ends when its connection takes nothing more, not sooner.
    config.timing.ping = FLUSH;
    config.timing.echo_limit = FLUSH;
    config.timing.publish = Duration::from_millis(500);
    let link = Running::serving(config).await;
    proxy.stall();
    let outbox = link.handle.outbox();
    let mut sent = 0;
    let filled = async {
        loop {
            outbox.send(loud(sent)).await.unwrap();
            sent += 1;
        }
    };
    tokio::select! {
        () = filled => {}
        _ = link.until(|state| !state.serving()) => {}
    }
    // Nobody takes from the outbox now: it holds the last of them, and what
    // was taken before was in the hands of the session.
    while unconstrained(outbox.send(loud(sent))).now_or_never().is_some() {
        sent += 1;
    }
    proxy.cut();
    let failed = |state: &LinkState| {
        matches!(state,
        LinkState::Disconnected { attempts, .. } if *attempts > 0)
    };
    link.until(failed).await;
    proxy.pass();
    let first = format!("ov.job.j.d.n1.{}", sent - OUTBOX - 1);
    recorder.next_on(&first).await;
    for n in sent - OUTBOX..sent {
        assert_eq!(recorder.next().await.subject, loud(n).subject);
    }
}

/// A frame of which a few hundred fill what lies between two sockets.
fn loud(n: usize) -> Outgoing {
    Outgoing {
        subject: format!("ov.job.j.d.n1.{n}"),
        payload: bytes::Bytes::from_static(&[b'x'; 1 << 16]),
        reasons: Vec::new(),
        message_id: None,
    }
}

#[tokio::test]
async fn a_full_outbox_makes_its_sender_wait_and_nobody_else() {
    let nats = Nats::down();
    let link = Running::start(config(&nats.url()));
    let filled = async {
        loop {
            link.frame("ov.job.j.d.n1.stdout", String::new()).await;
        }
    };
    let short = Duration::from_millis(300);
    assert!(tokio::time::timeout(short, filled).await.is_err());
    // These never wait, whatever the outbox holds.
    link.handle.say(vec![offer("ov.offer.a", "1")]);
    let flushed = link.handle.flush(short).await;
    assert!(matches!(flushed, Err(LinkError::NotFlushed)));
}

#[tokio::test]
async fn answers_go_before_frames() {
    let nats = Nats::start();
    let proxy = Proxy::to(nats.port()).await;
    let mut recorder = Recorder::of(&nats, ">").await;
    let mut link = Running::serving(config(&proxy.url())).await;
    let client = nats.client().await;
    let reply = "answers.here";
    let request = client.publish_with_reply("ov.node.n1.in.d", reply, job(1));
    request.await.unwrap();
    let job = soon(link.inbound.jobs.recv()).await.unwrap();
    proxy.cut();
    link.until(|state| !state.serving()).await;
    for n in 0..100 {
        link.frame("ov.job.j.d.n1.stdout", n.to_string()).await;
    }
    job.reply.unwrap().answer("the answer".into(), &[]);
    proxy.pass();
    recorder.next_on("ov.job.j.").await;
    assert!(recorder.heard.iter().any(|heard| heard.text == "the answer"));
}

fn offer(subject: &str, text: &str) -> OfferOut {
    OfferOut {
        subject: subject.to_owned(),
        payload: text.to_owned().into(),
        reasons: vec![Reason::new(ReasonCode::Draining, "bye\nnow")],
    }
}

fn job(seq: u64) -> bytes::Bytes {
    let id = format!("job_{:026}", seq);
    let frame = json!({"v": 1, "seq": seq, "ts": 1, "type": "job",
        "job": {"id": id}});
    frame.to_string().into()
}

#[tokio::test]
async fn only_the_latest_offer_of_each_subject_is_said() {
    let nats = Nats::start();
    let proxy = Proxy::to(nats.port()).await;
    proxy.cut();
    let mut recorder = Recorder::of(&nats, "ov.offer.>").await;
    let link = Running::start(config(&proxy.url()));
    for n in 0..50 {
        link.handle.say(vec![offer("ov.offer.a", &n.to_string())]);
    }
    link.handle.say(vec![offer("ov.offer.b", "b")]);
    proxy.pass();
    let first = recorder.next().await;
    assert_eq!(first.subject, "ov.offer.a");
    assert_eq!(first.text, "49");
    assert_eq!(first.reasons, ["draining; bye now"]);
    assert_eq!(recorder.next().await.subject, "ov.offer.b");
}

#[tokio::test]
async fn offers_are_said_again_after_a_reconnect() {
    let nats = Nats::start();
    let proxy = Proxy::to(nats.port()).await;
    let mut recorder = Recorder::of(&nats, "ov.offer.>").await;
    let link = Running::serving(config(&proxy.url())).await;
    link.handle.say(vec![offer("ov.offer.a", "1")]);
    assert_eq!(recorder.next().await.text, "1");
    proxy.cut();
    link.until(|state| !state.serving()).await;
    link.handle.say(vec![offer("ov.offer.a", "2")]);
    proxy.pass();
    assert_eq!(recorder.next().await.text, "2");
}

#[tokio::test]
async fn last_words_have_reached_the_server_when_farewell_returns() {
    let nats = Nats::start();
    let mut recorder = Recorder::of(&nats, "ov.offer.>").await;
    let link = Running::serving(config(&nats.url())).await;
    link.handle.say(vec![offer("ov.offer.a", "down")]);
    link.handle.farewell(FLUSH).await.unwrap();
    drop(link);
    assert_eq!(recorder.next().await.text, "down");
}

#[tokio::test]
async fn a_yielded_node_makes_no_offers() {
    let nats = Nats::start();
    let first = Running::serving(config(&nats.url())).await;
    let mut clone = config(&nats.url());
    clone.instance = "instance-b".to_owned();
    let second = Running::start(clone);
    second.until(|state| matches!(state, LinkState::Yielded { .. })).await;
    let mut recorder = Recorder::of(&nats, "ov.offer.>").await;
    second.handle.say(vec![offer("ov.offer.a", "of the second")]);
    second.handle.farewell(FLUSH).await.unwrap();
    first.handle.say(vec![offer("ov.offer.a", "of the first")]);
    assert_eq!(recorder.next().await.text, "of the first");
}

#[tokio::test]
async fn a_flood_is_answered_whole_and_cancels_are_not_behind_it() {
    const FLOOD: u64 = 65_536;
    let nats = Nats::start();
    let mut link = Running::serving(config(&nats.url())).await;
    let flood = nats.client().await;
    let mut answers = flood.subscribe("flood.answers").await.unwrap();
    for seq in 1..=FLOOD {
        let subject = "ov.node.n1.in.d";
        let reply = "flood.answers";
        let sent = flood.publish_with_reply(subject, reply, job(seq));
        sent.await.unwrap();
    }
    let cancel = json!({"v": 1, "seq": 9, "ts": 1, "type": "job_cancel",
        "id": format!("job_{:026}", 1)});
    let cancel = cancel.to_string().into();
    flood.publish("ov.node.n1.in.d", cancel).await.unwrap();
    let cancel = soon(link.inbound.controls.recv()).await.unwrap();
    assert_eq!(cancel.dispatcher.as_str(), "d");
    let refused = link.handle.counts().refused;
    assert_eq!(refused, FLOOD - 64, "the queue holds 64 and nobody reads");
    for _ in 0..refused {
        let nack = soon(answers.next()).await.unwrap();
        let nack: Value = serde_json::from_slice(&nack.payload).unwrap();
        assert_eq!(nack["fault_code"], "not_ready");
        let seq = nack["seq"].as_u64().unwrap();
        assert_eq!(nack["id"], format!("job_{seq:026}"));
    }
    let counts = link.handle.counts();
    assert_eq!((counts.slow, counts.unrefused), (0, 0));
}

#[tokio::test]
async fn requests_are_handed_on_with_sender_subject_size_and_signature() {
    let nats = Nats::start();
    let mut link = Running::serving(config(&nats.url())).await;
    let client = nats.client().await;
    let mut headers = async_nats::HeaderMap::new();
    headers.insert("Ov-Signer", "UA");
    headers.insert("Other", "x");
    let sent = client.publish_with_headers("ov.node.n1.in.d7", headers, job(1));
    sent.await.unwrap();
    let got = soon(link.inbound.jobs.recv()).await.unwrap();
    assert_eq!(got.dispatcher.as_str(), "d7");
    assert_eq!(got.subject, "ov.node.n1.in.d7");
    assert_eq!(got.headers, [("Ov-Signer".to_owned(), "UA".to_owned())]);
    let block = "NATS/1.0\r\nOv-Signer: UA\r\nOther: x\r\n\r\n";
    assert_eq!(got.size, got.payload.len() + block.len());
    assert!(got.reply.is_none());
}

#[tokio::test]
async fn a_frame_over_the_limit_is_handed_on_with_its_size() {
    let nats = Nats::with("max_payload: 4MB");
    let mut link = Running::serving(config(&nats.url())).await;
    assert_eq!(link.handle.max_payload(), 4 << 20);
    let client = nats.client().await;
    let mut cancel = br#"{"type":"job_cancel"}"#.to_vec();
    cancel.resize(2_000_000, b' ');
    client.publish("ov.node.n1.in.d", cancel.into()).await.unwrap();
    let got = soon(link.inbound.jobs.recv()).await.unwrap();
    assert_eq!(got.size, 2_000_000);
    assert!(got.payload.is_empty(), "64 of these must not fill the memory");
}

#[tokio::test]
async fn questions_are_handed_on_by_kind_and_answered() {
    let nats = Nats::start();
    let mut link = Running::serving(config(&nats.url())).await;
    let client = nats.client().await;
    let subject = "ov.node.n1.ask.artifacts.d";
    let asked =
        tokio::time::timeout(FLUSH, client.request(subject, "q".into()));
    let answered = async {
        let ask = soon(link.inbound.asks.recv()).await.unwrap();
        assert_eq!(ask.what, AskKind::Artifacts);
        assert_eq!((ask.asker.as_str(), &ask.payload[..]), ("d", &b"q"[..]));
        ask.reply.unwrap().answer("a".into(), &[]);
    };
    let (asked, ()) = tokio::join!(asked, answered);
    assert_eq!(asked.unwrap().unwrap().payload, "a");
}

#[tokio::test]
async fn a_nodes_own_id_answers_who_lives_under_it() {
    let nats = Nats::start();
    let _link = Running::serving(config(&nats.url())).await;
    let client = nats.client().await;
    let asked = client.request("ov.node.n1.ask.status._self", "".into()).await;
    let answer: Value =
        serde_json::from_slice(&asked.unwrap().payload).unwrap();
    assert_eq!(answer["instance"], "instance-a");
    assert_eq!(answer["started_ms"], 1_800_000_000_000_u64);
}

#[tokio::test]
async fn nats_services_find_the_node_once_even_after_a_reconnect() {
    let nats = Nats::start();
    let proxy = Proxy::to(nats.port()).await;
    let link = Running::serving(config(&proxy.url())).await;
    proxy.cut();
    link.until(|state| !state.serving()).await;
    proxy.pass();
    link.until(LinkState::serving).await;
    let client = nats.client().await;
    let mut pongs = client.subscribe("pongs").await.unwrap();
    let ping = client.publish_with_reply("$SRV.PING", "pongs", "".into());
    ping.await.unwrap();
    let pong = soon(pongs.next()).await.unwrap();
    let pong: Value = serde_json::from_slice(&pong.payload).unwrap();
    assert_eq!(pong["name"], "ovnode");
    assert_eq!(pong["metadata"]["node"], "n1");
    let stats = client.request("$SRV.STATS.ovnode", "".into()).await.unwrap();
    assert!(stats.payload.starts_with(b"{"));
    assert!(pongs.next().now_or_never().is_none(), "an old connection lives");
}
