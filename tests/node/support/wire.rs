//! A dispatcher that knows the wire only from its documentation: JSON over
//! NATS, nothing of the library.

use base64::Engine as _;
use futures::StreamExt;
use serde_json::{Value, json};
use std::time::Duration;

/// How long a test waits for what must come.
const LIMIT: Duration = Duration::from_secs(60);

/// A dispatcher of one node.
#[derive(Clone)]
pub(crate) struct Dispatch {
    /// Its connection, for what this file has no word for.
    pub(crate) nats: async_nats::Client,
    node: String,
    me: String,
}

/// A job that was sent: its answer, and its story as it is told.
pub(crate) struct Sent {
    /// Its id.
    pub(crate) id: String,
    /// The node's answer.
    pub(crate) answer: Value,
    story: async_nats::Subscriber,
}

/// All that was told of one job.
#[derive(Debug, Default)]
pub(crate) struct Story {
    /// Every frame, in order.
    pub(crate) frames: Vec<Value>,
    /// `Ov-Reason` headers of the exit.
    pub(crate) reasons: Vec<String>,
}

impl Dispatch {
    /// Connects as dispatcher `me`.
    pub(crate) async fn connect(nats: &str, node: &str, me: &str) -> Self {
        let nats = async_nats::connect(nats).await.unwrap();
        Self { nats, node: node.to_owned(), me: me.to_owned() }
    }

    /// The subject of requests.
    pub(crate) fn subject(&self) -> String {
        format!("ov.node.{}.in.{}", self.node, self.me)
    }

    /// Sends any bytes as a request; the answer.
    pub(crate) async fn raw(&self, payload: impl Into<bytes::Bytes>) -> Value {
        let asked = self.nats.request(self.subject(), payload.into());
        let said = tokio::time::timeout(LIMIT, asked).await;
        let said = said.expect("an answer in time").unwrap();
        serde_json::from_slice(&said.payload).unwrap()
    }

    /// Sends a frame of this type about `id`.
    pub(crate) async fn about(&self, kind: &str, id: &str) -> Value {
        let frame = json!({
            "v": 1, "seq": 1, "ts": now_ms(), "type": kind, "id": id,
        });
        self.raw(frame.to_string()).await
    }

    /// Sends a job, subscribed to its story before.
    pub(crate) async fn send(&self, job: Value) -> Sent {
        let mut sent = self.awaits(&job).await;
        sent.answer = self.raw(job_frame(&job)).await;
        sent
    }

    /// A job that is still to be sent, subscribed to its story.
    pub(crate) async fn awaits(&self, job: &Value) -> Sent {
        let id = job["id"].as_str().unwrap().to_owned();
        let story = self.nats.subscribe(format!("ov.job.{id}.>"));
        let story = story.await.unwrap();
        self.nats.flush().await.unwrap();
        Sent { id, answer: Value::Null, story }
    }

    /// Runs a shell script and hears its whole story; the exit is
    /// acknowledged.
    pub(crate) async fn run(&self, script: &str) -> Story {
        self.run_job(sh(script)).await
    }

    /// Runs a job and hears its whole story; the exit is acknowledged.
    pub(crate) async fn run_job(&self, job: Value) -> Story {
        let mut sent = self.send(job).await;
        assert_eq!(sent.answer["type"], "ack", "{}", sent.answer);
        let story = sent.story().await;
        let acked = self.about("job_exit_ack", &sent.id).await;
        assert_eq!(acked["type"], "ack", "{acked}");
        story
    }
}

impl Sent {
    /// The next frame, with the headers it came with.
    pub(crate) async fn next(&mut self) -> (Value, Vec<String>) {
        let said = tokio::time::timeout(LIMIT, self.story.next()).await;
        let said = said.expect("a frame in time").unwrap();
        let reasons = said.headers.iter().flat_map(|headers| {
            headers.get_all("Ov-Reason").map(ToString::to_string)
        });
        let reasons = reasons.collect();
        (serde_json::from_slice(&said.payload).unwrap(), reasons)
    }

    /// The next frame of this type; others are passed over.
    pub(crate) async fn until(&mut self, kind: &str) -> Value {
        loop {
            let (frame, _) = self.next().await;
            if frame["type"] == kind {
                return frame;
            }
        }
    }

    /// Everything up to the exit.
    pub(crate) async fn story(&mut self) -> Story {
        let mut told = Story::default();
        loop {
            let (frame, reasons) = self.next().await;
            let last = frame["type"] == "job_exit";
            told.frames.push(frame);
            if last {
                told.reasons = reasons;
                return told;
            }
        }
    }
}

impl Story {
    /// The exit.
    pub(crate) fn exit(&self) -> &Value {
        self.frames.last().unwrap()
    }

    /// Reason and code of the exit.
    pub(crate) fn end(&self) -> (&str, Option<i64>) {
        let exit = self.exit();
        (exit["reason"].as_str().unwrap(), exit["code"].as_i64())
    }

    /// All frames of one type.
    pub(crate) fn of(&self, kind: &str) -> Vec<&Value> {
        let all = self.frames.iter();
        all.filter(|frame| frame["type"] == kind).collect()
    }

    /// Its output, joined.
    pub(crate) fn stdout(&self) -> String {
        let chunks = self.of("job_stdout").into_iter();
        chunks.map(|frame| frame["chunk"].as_str().unwrap()).collect()
    }
}

/// A job of artifact `sh@1`, which runs the script it is given.
pub(crate) fn sh(script: &str) -> Value {
    let script = base64::engine::general_purpose::STANDARD.encode(script);
    json!({
        "id": new_id(),
        "class": "function",
        "artifact": { "name": "sh", "version": "1" },
        "args": { "sh64": script },
        "ttl_ms": 120_000,
        "limits": {
            "wall_ms": 60_000, "cpu_ms": 60_000, "mem_bytes": 67_108_864,
        },
    })
}

/// A `job` frame.
pub(crate) fn job_frame(job: &Value) -> String {
    let ts = now_ms();
    json!({ "v": 1, "seq": 1, "ts": ts, "type": "job", "job": job }).to_string()
}

/// A job id made now.
pub(crate) fn new_id() -> String {
    format!("job_{}", ulid::Ulid::generate())
}

/// Unix milliseconds.
pub(crate) fn now_ms() -> u64 {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    u64::try_from(now.as_millis()).unwrap()
}
