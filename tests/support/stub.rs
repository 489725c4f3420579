use super::link::Running;
use ovnode::contract::AskKind;
use ovnode::link::{AskReceived, OfferOut, Outgoing, Received};
use serde_json::{Value, json};

/// A node that only pretends: it takes every job and says its story, so that
/// dispatchers can be tested without an engine.
pub(crate) struct Stub {
    link: Running,
    /// The types of the frames that came in.
    pub(crate) asked: Vec<String>,
}

/// Where the stub's offer is said.
pub(crate) const OFFER: &str = "ov.offer.user-owned.node.local.n1.off_n1_node";

impl Stub {
    /// A stub over a link that serves; says its offer.
    pub(crate) fn over(link: Running) -> Self {
        let stub = Self { link, asked: Vec::new() };
        stub.offers()();
        stub
    }

    /// What says its offer, each time it is called.
    pub(crate) fn offers(&self) -> impl Fn() + use<> {
        let handle = self.link.handle.clone();
        let offer = json!({
            "offer_id": "off_n1_node", "kind": "node", "node_id": "n1",
            "region": "local", "trust": "user-owned",
            "capabilities": ["worker:function"],
            "capacity": {"workers": {"function": 1}},
            "health": {"status": "up"},
            "pricing": {"model": "free-allowance"},
            "updated_at": "2027-01-15T08:00:00.000Z",
        });
        let offer = OfferOut {
            subject: OFFER.to_owned(),
            payload: offer.to_string().into(),
            reasons: Vec::new(),
        };
        move || handle.say(vec![offer.clone()])
    }

    /// Serves until an exit was acknowledged.
    pub(crate) async fn serve(&mut self) {
        while self.asked.last().is_none_or(|kind| kind != "job_exit_ack") {
            let inbound = &mut self.link.inbound;
            tokio::select! {
                Some(ask) = inbound.asks.recv() => answer_ask(ask),
                Some(job) = inbound.jobs.recv() => self.take(job).await,
                Some(it) = inbound.controls.recv() => self.take(it).await,
            }
        }
        let limit = super::LONG;
        self.link.handle.flush(limit).await.unwrap();
    }

    async fn take(&mut self, received: Received) {
        let frame: Value = serde_json::from_slice(&received.payload).unwrap();
        let kind = frame["type"].as_str().unwrap().to_owned();
        self.asked.push(kind.clone());
        let is_job = kind == "job";
        let id = if is_job { &frame["job"]["id"] } else { &frame["id"] };
        let ack = json!({"v": 1, "seq": frame["seq"], "ts": 1, "type": "ack",
            "id": id});
        received.reply.unwrap().answer(ack.to_string().into(), &[]);
        if is_job {
            let id = id.as_str().unwrap();
            self.tell(id, received.dispatcher.as_str(), &frame).await;
        }
    }

    /// A job that writes its args and exits with the code they name.
    async fn tell(&self, id: &str, of: &str, frame: &Value) {
        let args = &frame["job"]["args"];
        let code = args["code"].as_i64().unwrap_or(0);
        let result = if code == 0 { args.clone() } else { Value::Null };
        let story = [
            ("started", json!({"started_ms": 5})),
            ("stdout", json!({"chunk_seq": 1, "chunk": "hello\n"})),
            ("usage", json!({"started_ms": 5, "second": 0})),
            (
                "exit",
                json!({"reason": "exited", "code": code, "result": result,
                "usage": {"started_ms": 5, "wall_ms": 1200}}),
            ),
        ];
        for (seq, (kind, mut body)) in (1..).zip(story) {
            body["v"] = json!(1);
            body["seq"] = json!(seq);
            body["ts"] = json!(1);
            body["type"] = json!(format!("job_{kind}"));
            body["id"] = json!(id);
            let out = Outgoing {
                subject: format!("ov.job.{id}.{of}.n1.{kind}"),
                payload: body.to_string().into(),
                reasons: Vec::new(),
                message_id: None,
            };
            self.link.handle.outbox().send(out).await.unwrap();
        }
    }
}

fn answer_ask(ask: AskReceived) {
    let document = match ask.what {
        AskKind::Artifacts => json!({"artifacts": [{"name": "echo",
            "version": "1.0.0", "class": "function", "digest": null,
            "ready": true}]}),
        AskKind::Status => json!({"node": "n1"}),
        AskKind::Logs | AskKind::Outputs => json!({}),
    };
    if let Some(reply) = ask.reply {
        reply.answer(document.to_string().into(), &[]);
    }
}
