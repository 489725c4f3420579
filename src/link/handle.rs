use super::counts::{Count, Counts, LinkCounts};
use super::error::LinkError;
use super::outbox::Outbox;
use super::sayings::Sayings;
use super::state::LinkState;
use crate::contract::Reason;
use bytes::Bytes as Payload;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, oneshot, watch};

/// One offer on its way out.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferOut {
    /// Where to; only the latest document of a subject is kept.
    pub subject: String,
    /// The document.
    pub payload: Payload,
    /// `Ov-Reason` headers.
    pub reasons: Vec<Reason>,
}

/// One measured way to the server and back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTrip {
    /// Counts measurements; 0 is none yet.
    pub number: u64,
    /// How long it took.
    pub took: Duration,
}

/// What the handle and the link's parts share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) state: watch::Sender<LinkState>,
    pub(super) round_trip: watch::Sender<RoundTrip>,
    pub(super) max_payload: AtomicUsize,
    pub(super) counts: Arc<Counts>,
    /// Wakes the pump: something was said, or may be said now.
    pub(super) said: Notify,
    sayings: Mutex<Sayings>,
}

impl Shared {
    pub(super) fn new(state: LinkState, counts: Arc<Counts>) -> Self {
        Self {
            state: watch::Sender::new(state),
            round_trip: watch::Sender::new(RoundTrip::default()),
            // What a server allows unless it is told otherwise.
            max_payload: AtomicUsize::new(1 << 20),
            counts,
            said: Notify::new(),
            sayings: Mutex::new(Sayings::default()),
        }
    }

    /// The offers. Nothing that holds the lock can leave them half changed,
    /// so one poisoned by a panic elsewhere is as good as new.
    pub(super) fn sayings(&self) -> MutexGuard<'_, Sayings> {
        self.sayings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the other floors hold of the link.
#[derive(Clone, Debug)]
pub struct LinkHandle {
    pub(super) shared: Arc<Shared>,
    pub(super) outbox: Outbox,
    pub(super) flushes: mpsc::Sender<oneshot::Sender<()>>,
}

impl LinkHandle {
    /// The way out for frames.
    pub fn outbox(&self) -> Outbox {
        self.outbox.clone()
    }

    /// How the link is, and when that changes.
    pub fn state(&self) -> watch::Receiver<LinkState> {
        self.shared.state.subscribe()
    }

    /// Ways to the server and back, as they are measured.
    pub fn round_trips(&self) -> watch::Receiver<RoundTrip> {
        self.shared.round_trip.subscribe()
    }

    /// The largest message that the server takes, in bytes.
    pub fn max_payload(&self) -> usize {
        self.shared.max_payload.load(Ordering::Relaxed)
    }

    /// What was dropped, refused or started over.
    pub fn counts(&self) -> LinkCounts {
        self.shared.counts.snapshot()
    }

    /// Says offers as soon as the link allows; never waits. Only the latest
    /// document of each subject is kept, and said again after a reconnect.
    pub fn say(&self, offers: Vec<OfferOut>) {
        let mut sayings = self.shared.sayings();
        for offer in offers {
            if !sayings.say(offer) {
                let message = "an offer was dropped: too many subjects";
                self.shared.counts.warn(Count::Offers, message);
            }
        }
        drop(sayings);
        self.shared.said.notify_one();
    }

    /// Waits until the server has everything that was queued before.
    ///
    /// # Errors
    /// When it did not confirm that within `deadline`, as when it is away.
    pub async fn flush(&self, deadline: Duration) -> Result<(), LinkError> {
        let (told, heard) = oneshot::channel();
        let confirmed = async {
            let sent = self.flushes.send(told).await;
            sent.map_err(|_| LinkError::Gone)?;
            heard.await.map_err(|_| LinkError::NotFlushed)
        };
        tokio::time::timeout(deadline, confirmed)
            .await
            .map_err(|_| LinkError::NotFlushed)?
    }

    /// Sends the last words that were said and queued before, at once.
    ///
    /// # Errors
    /// When the server did not confirm them within `deadline`.
    pub async fn farewell(&self, deadline: Duration) -> Result<(), LinkError> {
        self.shared.sayings().release();
        self.shared.said.notify_one();
        self.flush(deadline).await
    }
}
