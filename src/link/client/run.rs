use super::dispatcher::{Dispatcher, bad_answer};
use super::offers::reasons;
use crate::contract::{JobId, NodeId};
use crate::link::error::LinkError;
use async_nats::{Message, RequestErrorKind, Subscriber};
use bytes::Bytes as Payload;
use futures::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};

/// What a node said to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It holds the job; or it took the cancel or acknowledgement.
    Taken,
    /// The job has ended already: its exit frame.
    Ended(Payload),
    /// It refuses. On the first attempt this means: not run there.
    Refused {
        /// The contract's word.
        code: String,
        /// A sentence with numbers.
        message: String,
    },
    /// Nobody listens under that id: not run there.
    NobodyThere,
}

/// One frame of the job's story.
#[derive(Clone, Debug)]
pub struct FrameSeen {
    /// `started`, `stdout`, `usage`, `exit` or `nack`: the subject's last.
    pub kind: String,
    /// The frame, as it came.
    pub payload: Payload,
    /// `Ov-Reason` headers, as `code; text`.
    pub reasons: Vec<String>,
}

impl FrameSeen {
    /// How the job ended, where this is its exit.
    pub fn exit(&self) -> Option<ExitView> {
        serde_json::from_slice(&self.payload).ok()
    }
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ExitView {
    /// `exited`, `cancelled`, `ttl`, `limit`, `stopped` or `failed`.
    pub reason: String,
    /// Its exit code, where it ended by itself.
    pub code: Option<i64>,
    /// What it wrote to fd 3.
    pub result: Value,
}

impl ExitView {
    /// Whether it ended by itself, with 0.
    pub fn is_well(&self) -> bool {
        self.reason == "exited" && self.code == Some(0)
    }
}

/// One job at one node.
pub struct Run {
    dispatcher: Dispatcher,
    node: NodeId,
    id: JobId,
    job: Value,
    story: Subscriber,
    /// What a frame of our job from our node comes on, but for its kind.
    root: String,
}

#[derive(Deserialize)]
struct Answered {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    fault_code: String,
    #[serde(default)]
    message: String,
}

impl Run {
    pub(super) fn new(
        dispatcher: Dispatcher,
        node: NodeId,
        (id, job): (JobId, Value),
        story: Subscriber,
    ) -> Self {
        let root = dispatcher.subjects.job(&id, &dispatcher.me, &node, "");
        Self { dispatcher, node, id, job, story, root }
    }

    /// The job's id.
    pub fn id(&self) -> &JobId {
        &self.id
    }

    /// Sends the job. May be repeated, to the same node only: it runs at
    /// most once.
    ///
    /// # Errors
    /// When no answer came: then nobody knows whether it runs. Repeat it, or
    /// cancel it.
    pub async fn send(&self) -> Result<Sent, LinkError> {
        self.say("job", "job", self.job.clone()).await
    }

    /// Asks the node to end the job. Refused with `bad_value`, the node will
    /// never run it.
    ///
    /// # Errors
    /// When no answer came.
    pub async fn cancel(&self) -> Result<Sent, LinkError> {
        self.say("job_cancel", "id", json!(self.id)).await
    }

    /// Tells the node that the exit came, so that it says it no more.
    ///
    /// # Errors
    /// When no answer came: the node will say the exit again.
    pub async fn ack_exit(&self) -> Result<Sent, LinkError> {
        self.say("job_exit_ack", "id", json!(self.id)).await
    }

    /// The next frame of the job; `None` once the connection has ended for
    /// good. What others say about the job is skipped.
    pub async fn next(&mut self) -> Option<FrameSeen> {
        loop {
            let message = self.story.next().await?;
            let Some(kind) = message.subject.strip_prefix(self.root.as_str())
            else {
                continue;
            };
            return Some(FrameSeen {
                kind: kind.to_owned(),
                reasons: reasons(&message),
                payload: message.payload,
            });
        }
    }

    async fn say(
        &self,
        kind: &str,
        key: &str,
        value: Value,
    ) -> Result<Sent, LinkError> {
        let (seq, ts) = self.dispatcher.stamp();
        let mut frame = json!({"v": 1, "seq": seq, "ts": ts, "type": kind});
        frame[key] = value;
        let subjects = &self.dispatcher.subjects;
        let subject = subjects.requests(&self.node, &self.dispatcher.me);
        let payload = frame.to_string().into_bytes();
        let asked = self.dispatcher.request(&self.node, subject, payload);
        match asked.await {
            Ok(answer) => self.read(&answer),
            Err(LinkError::NoAnswer { source, .. })
                if source.kind() == RequestErrorKind::NoResponders =>
            {
                Ok(Sent::NobodyThere)
            }
            Err(err) => Err(err),
        }
    }

    fn read(&self, answer: &Message) -> Result<Sent, LinkError> {
        let answered: Answered = serde_json::from_slice(&answer.payload)
            .map_err(|err| bad_answer(&self.node, err))?;
        Ok(match answered.kind.as_str() {
            "ack" => Sent::Taken,
            "job_exit" => Sent::Ended(answer.payload.clone()),
            _ => Sent::Refused {
                code: answered.fault_code,
                message: answered.message,
            },
        })
    }
}
