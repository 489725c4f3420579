use super::fleet::{Fleet, OfferSeen};
use async_nats::{Message, Subscriber};
use futures::StreamExt;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};

/// What is new in the fleet.
#[derive(Clone, Debug)]
pub enum OfferNews {
    /// An offer was said, or said again.
    Said(OfferSeen),
    /// An offer was not refreshed for three intervals: its subject.
    Gone(String),
}

/// The stream of offers.
#[derive(Debug)]
pub struct Offers {
    subscriber: Subscriber,
    fleet: Fleet,
    sweep: Interval,
    gone: VecDeque<String>,
    unbelieved: u64,
}

impl Offers {
    pub(super) fn new(subscriber: Subscriber, every: Duration) -> Self {
        // One pass over the fleet a second is nothing, even for 200,000.
        let mut sweep = interval(Duration::from_secs(1).min(every));
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            subscriber,
            fleet: Fleet::new(every.saturating_mul(3)),
            sweep,
            gone: VecDeque::new(),
            unbelieved: 0,
        }
    }

    /// Documents that were dropped because they say of themselves what
    /// their subject does not.
    pub fn unbelieved(&self) -> u64 {
        self.unbelieved
    }

    /// What is new next; `None` once the connection has ended for good.
    pub async fn next(&mut self) -> Option<OfferNews> {
        loop {
            if let Some(subject) = self.gone.pop_front() {
                return Some(OfferNews::Gone(subject));
            }
            let message = tokio::select! {
                biased; // a stream of offers must not hide who is gone
                now = self.sweep.tick() => {
                    self.gone = self.fleet.sweep(now).into();
                    continue;
                }
                message = self.subscriber.next() => message?,
            };
            if let Some(seen) = self.believe(message) {
                return Some(OfferNews::Said(seen));
            }
        }
    }

    fn believe(&mut self, message: Message) -> Option<OfferSeen> {
        let now = Instant::now();
        if !self.fleet.take(&message.subject, &message.payload, now) {
            self.unbelieved = self.unbelieved.saturating_add(1);
            return None;
        }
        Some(OfferSeen {
            reasons: reasons(&message),
            subject: message.subject.to_string(),
            payload: message.payload,
        })
    }
}

/// The `Ov-Reason` headers of a message.
pub(super) fn reasons(message: &Message) -> Vec<String> {
    let Some(headers) = &message.headers else { return Vec::new() };
    headers.get_all("Ov-Reason").map(ToString::to_string).collect()
}
