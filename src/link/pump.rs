use super::handle::OfferOut;
use super::lane::Lane;
use super::outbox::Outgoing;
use super::peek;
use super::reader::Refusal;
use super::voice::{Stuck, Voice};
use crate::contract::Clock;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

/// Small messages that go in one turn.
const SMALL: usize = 64;

/// Frames that go in one turn: 16 of 16 KiB, then answers get their chance.
const FRAMES: usize = 16;

/// What waits to be sent. It outlives every session: what is in here while
/// the link is down, or was not sent when a session ended, goes out when it
/// is up again, in order.
#[derive(Debug)]
pub(super) struct Queues {
    pub(super) answers: Lane<Outgoing>,
    pub(super) refusals: Lane<Refusal>,
    pub(super) frames: Lane<Outgoing>,
    pub(super) flushes: mpsc::Receiver<oneshot::Sender<()>>,
}

impl Queues {
    /// A session panicked, perhaps over a message: the first of each is
    /// given up, so that none ends every session to come.
    pub(super) fn give_up_first(&mut self) {
        self.answers.pop();
        self.refusals.pop();
        self.frames.pop();
    }
}

/// What is to be sent next.
enum Turn {
    Answers,
    Offer(OfferOut),
    Refusals,
    Frames,
    Flush(oneshot::Sender<()>),
}

/// Empties the queues while the session lasts.
pub(super) struct Pump<'a> {
    pub(super) voice: &'a Voice<'a>,
    pub(super) queues: &'a mut Queues,
    pub(super) clock: &'a dyn Clock,
}

impl Pump<'_> {
    /// Ends only when the connection takes nothing more.
    pub(super) async fn run(&mut self) -> Stuck {
        loop {
            let turn = self.next().await;
            if let Err(stuck) = self.send(turn).await {
                return stuck;
            }
        }
    }

    /// Answers first, as someone waits for them; then offers, which keep the
    /// node alive in the fleet's eyes; then the rest by turns.
    async fn next(&mut self) -> Turn {
        let (voice, queues) = (self.voice, &mut *self.queues);
        tokio::select! {
            biased; // the order above
            () = queues.answers.fill(SMALL) => Turn::Answers,
            offer = next_offer(voice) => Turn::Offer(offer),
            turn = rest(
                &mut queues.refusals,
                &mut queues.frames,
                &mut queues.flushes,
            ) => turn,
        }
    }

    async fn send(&mut self, turn: Turn) -> Result<(), Stuck> {
        match turn {
            Turn::Answers => {
                say_all(self.voice, &mut self.queues.answers).await
            }
            Turn::Frames => say_all(self.voice, &mut self.queues.frames).await,
            Turn::Offer(offer) => self.voice.say(offer.into()).await,
            Turn::Refusals => self.refuse_all().await,
            Turn::Flush(told) => self.flush(told).await,
        }
    }

    async fn refuse_all(&mut self) -> Result<(), Stuck> {
        while let Some(refusal) = self.queues.refusals.first() {
            let now = self.clock.now().wall;
            let text = peek::no_room(&refusal.of, refusal.limit, now);
            let out = Outgoing {
                subject: refusal.reply.clone(),
                payload: text.into(),
                reasons: Vec::new(),
                message_id: None,
            };
            self.voice.say(out).await?;
            self.queues.refusals.pop();
        }
        Ok(())
    }

    /// Sends what waited when the flush was asked for, then a message to
    /// ourselves: once that is back, the server has all of it.
    async fn flush(&mut self, told: oneshot::Sender<()>) -> Result<(), Stuck> {
        self.queues.answers.fill_now();
        say_all(self.voice, &mut self.queues.answers).await?;
        self.queues.frames.fill_now();
        say_all(self.voice, &mut self.queues.frames).await?;
        while let Some(offer) = offer_now(self.voice) {
            self.voice.say(offer.into()).await?;
        }
        self.voice.ask(Some(told)).await
    }
}

impl From<OfferOut> for Outgoing {
    fn from(offer: OfferOut) -> Self {
        let OfferOut { subject, payload, reasons } = offer;
        Self { subject, payload, reasons, message_id: None }
    }
}

/// Says all that was taken from a queue. One that is not said stays the first
/// of it, whether the connection takes nothing more or this is dropped.
async fn say_all(
    voice: &Voice<'_>,
    lane: &mut Lane<Outgoing>,
) -> Result<(), Stuck> {
    while let Some(out) = lane.first() {
        voice.say(out.clone()).await?;
        lane.pop();
    }
    Ok(())
}

/// By turns (`select!` picks at random), so that neither a flood of refused
/// jobs holds back the frames of running ones, nor the other way round.
async fn rest(
    refusals: &mut Lane<Refusal>,
    frames: &mut Lane<Outgoing>,
    flushes: &mut mpsc::Receiver<oneshot::Sender<()>>,
) -> Turn {
    tokio::select! {
        () = refusals.fill(SMALL) => Turn::Refusals,
        () = frames.fill(FRAMES) => Turn::Frames,
        Some(told) = flushes.recv() => Turn::Flush(told),
    }
}

/// The next offer that may go now; none while the node does not serve.
fn offer_now(voice: &Voice<'_>) -> Option<OfferOut> {
    let now = Instant::now();
    voice.serving().then(|| voice.shared.sayings().take(now)).flatten()
}

/// Waits for the next offer. Cancel-safe: nothing is awaited once it was
/// taken.
async fn next_offer(voice: &Voice<'_>) -> OfferOut {
    loop {
        if let Some(offer) = offer_now(voice) {
            return offer;
        }
        let held = voice.shared.sayings().next_at(Instant::now());
        let said = voice.shared.said.notified();
        match held.filter(|_| voice.serving()) {
            Some(at) => tokio::select! {
                () = said => {}
                () = sleep_until(at) => {}
            },
            None => said.await,
        }
    }
}
