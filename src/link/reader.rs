use super::counts::{Count, Counts};
use super::inbound::{AskReceived, Inbound, Received, ReplyTo};
use super::names::Names;
use super::outbox::Outbox;
use super::peek::{self, Echoed, Kind};
use crate::contract::{AskKind, DispatcherId, SELF, Token};
use async_nats::Message;
use bytes::Bytes as Payload;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Jobs that may wait for admission. Admission takes milliseconds (one
/// durable row), so 64 are some tenths of a second: who comes after them is
/// better served elsewhere.
const JOBS: usize = 64;

/// Cancels and acknowledgements that may wait. They are small and quick to
/// serve; a node runs fewer jobs than this.
const CONTROLS: usize = 256;

/// Questions that may wait; they are for people and rare.
const ASKS: usize = 64;

/// Refusals that may wait to be sent: as many as a subscription can hold, so
/// that a burst which fits there is answered whole. About 150 bytes each.
const REFUSALS: usize = 1 << 16;

/// The refusal of a frame for which there was no room.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) reply: String,
    pub(super) of: Echoed,
    pub(super) limit: usize,
}

/// Where the reader puts what comes in. Nothing here ever waits.
#[derive(Debug)]
pub(super) struct Desk {
    jobs: mpsc::Sender<Received>,
    controls: mpsc::Sender<Received>,
    asks: mpsc::Sender<AskReceived>,
    refusals: mpsc::Sender<Refusal>,
    outbox: Outbox,
    counts: Arc<Counts>,
    names: Names,
    requests_root: String,
}

impl Desk {
    /// A desk and its other ends.
    pub(super) fn new(
        names: &Names,
        outbox: Outbox,
    ) -> (Self, Inbound, mpsc::Receiver<Refusal>) {
        let (jobs, jobs_in) = mpsc::channel(JOBS);
        let (controls, controls_in) = mpsc::channel(CONTROLS);
        let (asks, asks_in) = mpsc::channel(ASKS);
        let (refusals, refusals_in) = mpsc::channel(REFUSALS);
        let counts = Arc::clone(&outbox.counts);
        let requests_root = names.requests().replace('*', "");
        let desk = Self {
            jobs,
            controls,
            asks,
            refusals,
            outbox,
            counts,
            names: names.clone(),
            requests_root,
        };
        let inbound =
            Inbound { jobs: jobs_in, controls: controls_in, asks: asks_in };
        (desk, inbound, refusals_in)
    }

    /// Puts one request into its queue, or refuses it at once.
    pub(super) fn request(&self, message: Message) {
        let from = message.subject.strip_prefix(self.requests_root.as_str());
        let Some(dispatcher) = from.and_then(sender) else {
            let message = "a request was dropped: it names no dispatcher";
            self.counts.warn(Count::Strays, message);
            return;
        };
        let size = size_of(&message);
        let kind = peek::kind(&message.payload, size);
        let received = self.received(message, dispatcher, size);
        let (queue, limit) = match kind {
            Kind::Job => (&self.jobs, JOBS),
            Kind::Control => (&self.controls, CONTROLS),
        };
        if let Err(full) = queue.try_send(received) {
            self.refuse(&full.into_inner(), limit);
        }
    }

    /// Puts one question into its queue.
    pub(super) fn ask(&self, what: AskKind, message: Message) {
        let last = message.subject.rsplit('.').next();
        // The node's own questions are answered elsewhere.
        if last == Some(SELF) {
            return;
        }
        let Some(asker) = last.and_then(sender) else {
            let message = "a question was dropped: it names no dispatcher";
            self.counts.warn(Count::Strays, message);
            return;
        };
        let reply = self.reply_to(&message);
        let payload = message.payload;
        let received = AskReceived { what, asker, payload, reply };
        if self.asks.try_send(received).is_err() {
            let message = "a question was dropped: too many wait";
            self.counts.warn(Count::Asks, message);
        }
    }

    /// Answers on the link's own behalf.
    pub(super) fn answer(&self, message: &Message, payload: Payload) {
        if let Some(reply) = self.reply_to(message) {
            reply.answer(payload, &[]);
        }
    }

    fn refuse(&self, full: &Received, limit: usize) {
        let message = "requests are refused: their queue is full";
        self.counts.warn(Count::Refused, message);
        let Some(reply) = &full.reply else { return };
        let refusal = Refusal {
            reply: reply.subject.clone(),
            of: peek::echoed(&full.payload, full.size),
            limit,
        };
        if self.refusals.try_send(refusal).is_err() {
            let message = "refusals are dropped: too many wait";
            self.counts.warn(Count::Unrefused, message);
        }
    }

    fn received(
        &self,
        message: Message,
        dispatcher: DispatcherId,
        size: usize,
    ) -> Received {
        let reply = self.reply_to(&message);
        let headers = headers_of(&message);
        let subject = message.subject.to_string();
        let fits = size <= peek::KEPT_LIMIT;
        let payload = if fits { message.payload } else { Payload::default() };
        Received { dispatcher, subject, headers, payload, size, reply }
    }

    fn reply_to(&self, message: &Message) -> Option<ReplyTo> {
        let subject = message.reply.as_ref()?.to_string();
        if self.names.means_something(&subject) {
            let message = "an answer is not given: it was wanted on a \
                           subject of the wire";
            self.counts.warn(Count::Strays, message);
            return None;
        }
        Some(ReplyTo { subject, outbox: self.outbox.clone() })
    }
}

/// Who sent it: a dispatcher's token, and not the reserved one.
fn sender(token: &str) -> Option<DispatcherId> {
    let token = Token::try_from(token.to_owned()).ok()?;
    (token.as_str() != SELF).then_some(token)
}

/// Payload and headers together, as the server counts them.
fn size_of(message: &Message) -> usize {
    let reply = message.reply.as_ref().map_or(0, |reply| reply.len());
    let names = message.subject.len().saturating_add(reply);
    message.length.saturating_sub(names)
}

/// Our own headers; the rest is between other people.
fn headers_of(message: &Message) -> Vec<(String, String)> {
    let Some(headers) = &message.headers else { return Vec::new() };
    let ours = |name: &str| {
        name.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("ov-"))
    };
    headers
        .iter()
        .filter(|(name, _)| ours(name.as_ref()))
        .flat_map(|(name, values)| {
            let name: &str = name.as_ref();
            values.iter().map(move |value| (name.to_owned(), value.to_string()))
        })
        .collect()
}
