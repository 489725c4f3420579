use crate::contract::Reason;
use bytes::Bytes as Payload;
use tokio::sync::mpsc;

/// One message on its way out.
#[derive(Clone, Debug, PartialEq)]
pub struct Outgoing {
    /// Where to.
    pub subject: String,
    /// The document.
    pub payload: Payload,
    /// `Ov-Reason` headers.
    pub reasons: Vec<Reason>,
    /// `Nats-Msg-Id`, where a stream should drop repeats.
    pub message_id: Option<String>,
}

/// The link went away for good; the daemon is ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the link has ended")]
pub struct OutboxClosed;

/// The way out: first in, first out, bounded. Order within a job holds
/// because its one supervisor sends its frames one after the other.
#[derive(Clone, Debug)]
pub struct Outbox {
    frames: mpsc::Sender<Outgoing>,
    answers: mpsc::Sender<Outgoing>,
}

/// An outbox and its two ends: frames, and answers that go before them.
pub fn outbox() -> (Outbox, mpsc::Receiver<Outgoing>, mpsc::Receiver<Outgoing>)
{
    // 256 frames of 16 KiB are 4 MiB: what a second of a slow link buffers.
    let (frames, frames_out) = mpsc::channel(256);
    // Every queue in front of an answer is bounded too (64 jobs, 256
    // cancels), so 1,024 is room for the worst moment.
    let (answers, answers_out) = mpsc::channel(1024);
    (Outbox { frames, answers }, frames_out, answers_out)
}

impl Outbox {
    /// Waits for room, then queues one frame. Cancel-safe: a frame whose
    /// future is dropped was not queued.
    ///
    /// # Errors
    /// When the link has ended.
    pub async fn send(&self, frame: Outgoing) -> Result<(), OutboxClosed> {
        self.frames.send(frame).await.map_err(|_| OutboxClosed)
    }

    pub(super) fn offer_answer(
        &self,
        subject: String,
        payload: Payload,
        reasons: &[Reason],
    ) {
        let reasons = reasons.to_vec();
        let out = Outgoing { subject, payload, reasons, message_id: None };
        if self.answers.try_send(out).is_err() {
            tracing::warn!("an answer was dropped: the outbox is full");
        }
    }
}
