use super::handle::OfferOut;
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
/// the link is down goes out when it is up again, in order.
#[derive(Debug)]
pub(super) struct Queues {
    pub(super) answers: mpsc::Receiver<Outgoing>,
    pub(super) refusals: mpsc::Receiver<Refusal>,
    pub(super) frames: mpsc::Receiver<Outgoing>,
    pub(super) flushes: mpsc::Receiver<oneshot::Sender<()>>,
}

/// What is to be sent next. A batch is never empty: the desk, which outlives
/// every session, holds the other ends.
enum Turn {
    Answers(Vec<Outgoing>),
    Offer(OfferOut),
    Refusals(Vec<Refusal>),
    Frames(Vec<Outgoing>),
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
        let mut answers = Vec::new();
        tokio::select! {
            biased; // the order above
            _ = queues.answers.recv_many(&mut answers, SMALL) => {
                Turn::Answers(answers)
            }
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
            Turn::Answers(all) | Turn::Frames(all) => {
                for out in all {
                    self.voice.say(out).await?;
                }
                Ok(())
            }
            Turn::Offer(offer) => self.voice.say(offer.into()).await,
            Turn::Refusals(all) => {
                for refusal in all {
                    self.refuse(refusal).await?;
                }
                Ok(())
            }
            Turn::Flush(told) => self.flush(told).await,
        }
    }

    async fn refuse(&self, refusal: Refusal) -> Result<(), Stuck> {
        let now = self.clock.now().wall;
        let text = peek::no_room(&refusal.of, refusal.limit, now);
        let out = Outgoing {
            subject: refusal.reply,
            payload: text.into(),
            reasons: Vec::new(),
            message_id: None,
        };
        self.voice.say(out).await
    }

    /// Sends what waited when the flush was asked for, then a message to
    /// ourselves: once that is back, the server has all of it.
    async fn flush(&mut self, told: oneshot::Sender<()>) -> Result<(), Stuck> {
        while let Ok(answer) = self.queues.answers.try_recv() {
            self.voice.say(answer).await?;
        }
        for _ in 0..self.queues.frames.len() {
            if let Ok(frame) = self.queues.frames.try_recv() {
                self.voice.say(frame).await?;
            }
        }
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

/// By turns (`select!` picks at random), so that neither a flood of refused jobs holds back the frames
/// of running ones, nor the other way round.
async fn rest(
    refusals: &mut mpsc::Receiver<Refusal>,
    frames: &mut mpsc::Receiver<Outgoing>,
    flushes: &mut mpsc::Receiver<oneshot::Sender<()>>,
) -> Turn {
    let (mut some, mut more) = (Vec::new(), Vec::new());
    tokio::select! {
        _ = refusals.recv_many(&mut some, SMALL) => Turn::Refusals(some),
        _ = frames.recv_many(&mut more, FRAMES) => Turn::Frames(more),
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
