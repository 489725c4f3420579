use super::Outbox;
use crate::contract::{AskKind, DispatcherId, Reason};
use bytes::Bytes as Payload;
use tokio::sync::mpsc;

/// A message on `P.node.<node>.in.<dispatcher>`.
#[derive(Debug)]
pub struct Received {
    /// The subject's last token, which permissions pin.
    pub dispatcher: DispatcherId,
    /// The subject it came on (it is what a signature covers).
    pub subject: String,
    /// Headers that matter, `(name, value)`, as `Ov-Signer`.
    pub headers: Vec<(String, String)>,
    /// The frame, unparsed.
    pub payload: Payload,
    /// Payload and headers together, bytes.
    pub size: usize,
    /// Where the answer goes; `None` when it was not a request.
    pub reply: Option<ReplyTo>,
}

/// A question on `P.node.<node>.ask.<what>.<dispatcher>`.
#[derive(Debug)]
pub struct AskReceived {
    /// What is asked.
    pub what: AskKind,
    /// Who asks.
    pub asker: DispatcherId,
    /// Its question, unparsed; often empty.
    pub payload: Payload,
    /// Where the answer goes.
    pub reply: Option<ReplyTo>,
}

/// Where one answer goes.
#[derive(Clone, Debug)]
pub struct ReplyTo {
    pub(super) subject: String,
    pub(super) outbox: Outbox,
}

impl ReplyTo {
    /// Queues the answer; when the outbox is full it is dropped and counted,
    /// as an answer that comes too late is worth nothing.
    pub fn answer(self, payload: Payload, reasons: &[Reason]) {
        self.outbox.offer_answer(self.subject, payload, reasons);
    }
}

/// The three queues that the one reader fills.
#[derive(Debug)]
pub struct Inbound {
    /// Frames of type `job`, 64 at most; beyond that the reader itself
    /// answers `not_ready`.
    pub jobs: mpsc::Receiver<Received>,
    /// Cancels and acknowledgements, never behind a flood of jobs.
    pub controls: mpsc::Receiver<Received>,
    /// Questions.
    pub asks: mpsc::Receiver<AskReceived>,
}
