use super::dispatcher::{Dispatcher, bad_answer};
use super::offers::reasons;
use crate::contract::{
    Answer, Exit, FaultCode, JobEvent, JobFrame, JobId, NodeId,
};
use crate::link::error::LinkError;
use async_nats::{Message, RequestErrorKind, Subscriber};
use bytes::Bytes as Payload;
use futures::StreamExt;
use serde_json::{Value, json};

/// What a node said to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It holds the job; or it took the cancel or acknowledgement.
    Taken,
    /// The job has ended already: its exit.
    Ended(FrameSeen),
    /// It refuses. On the first attempt this means: not run there.
    Refused {
        /// The contract's word.
        code: FaultCode,
        /// A sentence with numbers.
        message: String,
    },
    /// Nobody listens under that id: not run there.
    NobodyThere,
}

/// One frame of the job's story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameSeen {
    /// Of which job it was heard.
    pub id: JobId,
    /// `started`, `stdout`, `usage`, `exit` or `nack`: the subject's last.
    pub kind: String,
    /// The frame, as it came.
    pub payload: Payload,
    /// `Ov-Reason` headers, as `code; text`.
    pub reasons: Vec<String>,
}

impl FrameSeen {
    /// How the job ended, where this is its exit: a frame of the contract,
    /// and of this job.
    pub fn exit(&self) -> Option<Exit> {
        let frame = JobFrame::parse(&self.payload).ok()?;
        match frame.event {
            JobEvent::Exit(exit) if frame.id == self.id => Some(exit),
            JobEvent::Exit(_)
            | JobEvent::Started { .. }
            | JobEvent::Stdout { .. }
            | JobEvent::Usage { .. } => None,
        }
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
                id: self.id.clone(),
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
        let seen = FrameSeen {
            id: self.id.clone(),
            kind: "exit".to_owned(),
            reasons: reasons(answer),
            payload: answer.payload.clone(),
        };
        if seen.exit().is_some() {
            return Ok(Sent::Ended(seen));
        }
        match Answer::parse(&answer.payload) {
            Ok(Answer::Ack { id, .. }) if id == self.id => Ok(Sent::Taken),
            Ok(Answer::Ack { .. }) => Err(bad_answer(&self.node, OtherJob)),
            Ok(Answer::Nack { code, message, .. }) => {
                Ok(Sent::Refused { code, message })
            }
            Err(faults) => Err(bad_answer(&self.node, faults)),
        }
    }
}

/// An answer to another request than ours.
#[derive(Debug, thiserror::Error)]
#[error("it speaks of another job")]
struct OtherJob;
