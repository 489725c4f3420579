use super::command::SubmitArgs;
use super::session::submit;
use super::wire::{Heard, Sent, Wire};
use crate::cli::ctx::Ctx;
use crate::cli::exit::Exit;
use crate::cli::render::OfferView;
use crate::contract::{
    Bytes, Exit as JobExit, ExitReason, Fault, FaultKind, Faults, Job,
    JobEvent, JobFrame, JobId, Limits, NetPolicy, NodeId, RuntimeClass,
    Timestamp, Usage,
};
use crate::control::Payload;
use crate::node::config::Sources;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

const MINTED: &str = "job_01J9ZQ4W6K8V3M2N7P5R1T0BBB";

/// A server that answers by a script, and writes down what it was told.
#[derive(Default)]
struct Script {
    offers: Vec<OfferView>,
    sent: VecDeque<Sent>,
    frames: VecDeque<Heard>,
    told: Vec<String>,
}

fn job_id(id: &str) -> JobId {
    JobId::try_from(id.to_owned()).unwrap()
}

impl Wire for Script {
    fn mint(&mut self) -> anyhow::Result<JobId> {
        Ok(job_id(MINTED))
    }

    fn check(&self, document: &Value) -> Result<Job, Faults> {
        let id = document["id"].as_str().unwrap_or_default().to_owned();
        let id = JobId::try_from(id).map_err(|bad| {
            Faults(vec![Fault {
                path: "/id".to_owned(),
                kind: FaultKind::Value,
                message: bad.to_string(),
            }])
        })?;
        Ok(Job {
            id,
            class: RuntimeClass::Code,
            artifact: None,
            args: serde_json::Map::new(),
            ttl: Duration::from_secs(5),
            limits: Limits {
                wall: Duration::from_secs(5),
                cpu: Duration::from_secs(5),
                memory: Bytes::mib(64),
            },
            net: NetPolicy::Deny,
            inputs: Vec::new(),
        })
    }

    async fn offers(&mut self) -> anyhow::Result<Vec<OfferView>> {
        self.told.push("offers".to_owned());
        Ok(self.offers.clone())
    }

    async fn send(&mut self, to: &NodeId, job: &Job) -> anyhow::Result<Sent> {
        self.told.push(format!("{} to {to}", job.id));
        Ok(self.sent.pop_front().unwrap_or(Sent::NoAnswer))
    }

    async fn next(&mut self) -> anyhow::Result<Option<Heard>> {
        match self.frames.pop_front() {
            Some(heard) => Ok(Some(heard)),
            None => std::future::pending().await,
        }
    }

    async fn cancel(&mut self) -> anyhow::Result<()> {
        self.told.push("cancel".to_owned());
        Ok(())
    }

    async fn acknowledge(&mut self) -> anyhow::Result<()> {
        self.told.push("acknowledged".to_owned());
        Ok(())
    }
}

fn frame(seq: u64, event: JobEvent) -> Heard {
    let frame = JobFrame { seq, ts: Timestamp(seq), id: job_id(MINTED), event };
    let json = Payload::from(format!(r#"{{"seq":{seq}}}"#));
    Heard { frame, json, reasons: Vec::new() }
}

fn chunk(seq: u64, chunk_seq: u64, chunk: &str) -> Heard {
    frame(seq, JobEvent::Stdout { chunk_seq, chunk: chunk.to_owned() })
}

fn exit(seq: u64, reason: ExitReason, code: Option<i64>) -> Heard {
    let usage = Usage { wall_ms: 1500, ..Usage::default() };
    let result = json!({"answer": "42\u{202e}"});
    frame(seq, JobEvent::Exit(JobExit { reason, code, result, usage }))
}

fn to(node: Option<&str>, trust: Option<&str>) -> SubmitArgs {
    SubmitArgs {
        file: PathBuf::from("-"),
        node: node.map(|id| NodeId::try_from(id.to_owned()).unwrap()),
        trust: trust.map(str::to_owned),
        dispatcher: NodeId::try_from("submit".to_owned()).unwrap(),
        wait: 0,
        json: false,
    }
}

/// How it ended, and what stands on standard output and standard error.
async fn ran(
    args: &SubmitArgs,
    script: &mut Script,
    document: Value,
) -> (anyhow::Result<Exit>, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut ctx = Ctx {
        out: &mut out,
        err: &mut err,
        input: &mut std::io::empty(),
        terminal: false,
        socket: PathBuf::new(),
        sources: Sources::default(),
    };
    let ended = submit(args, document, script, &mut ctx).await;
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (ended, text(out), text(err))
}

fn story() -> Script {
    Script {
        sent: [Sent::Taken].into(),
        frames: [
            frame(1, JobEvent::Started { started_ms: Timestamp(0) }),
            chunk(2, 1, "hello "),
            chunk(2, 1, "hello "),
            chunk(4, 4, "world\n"),
            exit(5, ExitReason::Exited, Some(0)),
        ]
        .into(),
        ..Script::default()
    }
}

#[tokio::test]
async fn a_job_is_sent_told_and_acknowledged() {
    let mut script = story();
    let args = to(Some("here"), Some("user-owned"));
    let (ended, out, err) = ran(&args, &mut script, json!({})).await;
    assert_eq!(ended.unwrap(), Exit::Done);
    assert_eq!(out, "hello world\n");
    insta::assert_snapshot!(err);
    let sent = format!("{MINTED} to here");
    assert_eq!(script.told, [sent.as_str(), "acknowledged"]);
}

#[tokio::test]
async fn with_json_each_frame_stands_on_a_line_once() {
    let args = SubmitArgs { json: true, ..to(Some("here"), Some("partner")) };
    let (_, out, _) = ran(&args, &mut story(), json!({"id": "new"})).await;
    assert_eq!(out, "{\"seq\":1}\n{\"seq\":2}\n{\"seq\":4}\n{\"seq\":5}\n");
}

#[tokio::test]
async fn every_other_end_than_exited_0_is_not_well() {
    for (reason, code) in [
        (ExitReason::Exited, Some(3)),
        (ExitReason::Exited, None),
        (ExitReason::Cancelled, None),
        (ExitReason::Ttl, None),
        (ExitReason::Limit, None),
        (ExitReason::Stopped, None),
        (ExitReason::Failed, None),
    ] {
        let mut script = Script {
            sent: [Sent::Taken].into(),
            frames: [exit(1, reason, code)].into(),
            ..Script::default()
        };
        let args = to(Some("here"), Some("partner"));
        let (ended, _, _) = ran(&args, &mut script, json!({})).await;
        assert_eq!(ended.unwrap(), Exit::NotWell, "{reason:?}");
    }
}

#[tokio::test]
async fn a_job_that_ended_before_is_told_by_its_answer() {
    let ended = exit(9, ExitReason::Exited, Some(0));
    let mut script = Script {
        sent: [Sent::NoAnswer, Sent::Ended(Box::new(ended))].into(),
        ..Script::default()
    };
    let args = to(Some("here"), Some("partner"));
    let document = json!({"id": MINTED});
    let (ended, _, err) = ran(&args, &mut script, document).await;
    assert_eq!(ended.unwrap(), Exit::Done);
    assert!(err.contains("has ended before"), "{err}");
    let sent = format!("{MINTED} to here");
    assert_eq!(script.told, [sent.as_str(), sent.as_str(), "acknowledged"]);
}

#[tokio::test]
async fn a_node_that_does_not_answer_is_asked_again_and_no_other() {
    let mut script = Script::default();
    let args = to(Some("here"), Some("partner"));
    let (ended, _, _) = ran(&args, &mut script, json!({})).await;
    let error = ended.unwrap_err();
    assert_eq!(Exit::of(&error), Exit::Unavailable);
    assert!(error.to_string().contains("is not known"), "{error}");
    assert_eq!(script.told, vec![format!("{MINTED} to here"); 3]);
}

#[tokio::test]
async fn a_refusal_is_said_in_the_nodes_words_and_ends_it() {
    let mut script = Script {
        sent: [Sent::Refused {
            code: "not_ready".to_owned(),
            message: "0 of 2 slots are free\x1b[2J".to_owned(),
        }]
        .into(),
        ..Script::default()
    };
    let args = to(Some("here"), Some("partner"));
    let (ended, _, _) = ran(&args, &mut script, json!({})).await;
    let error = ended.unwrap_err();
    assert_eq!(Exit::of(&error), Exit::NotWell);
    assert_eq!(
        error.to_string(),
        "here refuses the job: not_ready: 0 of 2 slots are free\\u{1b}[2J"
    );
}

#[tokio::test]
async fn what_is_not_a_job_is_never_sent() {
    let mut script = Script::default();
    let args = to(Some("here"), Some("partner"));
    for document in [json!({"id": "job_1"}), json!([]), json!(null)] {
        let (ended, _, _) = ran(&args, &mut script, document).await;
        let error = ended.unwrap_err().to_string();
        assert!(error.starts_with("not a job: "), "{error}");
    }
    assert!(script.told.is_empty());
}

#[tokio::test]
async fn a_user_owned_node_that_is_only_named_gets_no_job() {
    let offer = r#"{"kind": "node", "node_id": "here",
        "trust": "user-owned", "capabilities": ["worker:code"],
        "capacity": {"workers": {"code": 1}}, "health": {"status": "up"}}"#;
    let offer = OfferView::read(offer.as_bytes()).unwrap();
    for node in [None, Some("here")] {
        let offers = vec![offer.clone()];
        let mut script = Script { offers, ..Script::default() };
        let (ended, _, _) = ran(&to(node, None), &mut script, json!({})).await;
        let error = ended.unwrap_err().to_string();
        assert!(error.contains("--trust user-owned"), "{error}");
        assert_eq!(script.told, ["offers"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_without_an_exit_is_dead_a_minute_after_its_time() {
    let mut script = Script { sent: [Sent::Taken].into(), ..Script::default() };
    let begun = tokio::time::Instant::now();
    let args = to(Some("here"), Some("partner"));
    let (ended, _, _) = ran(&args, &mut script, json!({})).await;
    let error = ended.unwrap_err().to_string();
    assert!(error.contains("must not be used again"), "{error}");
    assert_eq!(begun.elapsed(), Duration::from_secs(65));
}

#[tokio::test]
async fn a_node_that_is_not_there_has_not_run_the_job() {
    let mut script =
        Script { sent: [Sent::NobodyThere].into(), ..Script::default() };
    let args = to(Some("here"), Some("partner"));
    let (ended, _, _) = ran(&args, &mut script, json!({})).await;
    let error = ended.unwrap_err();
    assert_eq!(Exit::of(&error), Exit::Unavailable);
    assert_eq!(error.to_string(), "no node here is there; not run");
    assert_eq!(script.told.len(), 1);
}
