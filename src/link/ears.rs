use super::names::ASKS;
use super::voice::{Stuck, Voice};
use crate::contract::AskKind;
use async_nats::{Message, Subscriber};
use futures::stream::{BoxStream, SelectAll, StreamExt};

/// What came in for others than the link.
pub(super) enum Heard {
    /// A job, a cancel or an acknowledgement.
    Request(Message),
    /// A question.
    Ask(AskKind, Message),
}

/// The subscriptions of a node that serves.
pub(super) struct Ears {
    requests: Subscriber,
    asks: SelectAll<BoxStream<'static, (AskKind, Message)>>,
}

impl Ears {
    /// Subscribes, in the node's own queue group.
    pub(super) async fn open(voice: &Voice<'_>) -> Result<Self, Stuck> {
        let names = voice.names;
        let requests = share(voice, names.requests()).await?;
        let mut asks = SelectAll::new();
        for what in ASKS {
            let heard = share(voice, names.asks(what)).await?;
            asks.push(heard.map(move |message| (what, message)).boxed());
        }
        Ok(Self { requests, asks })
    }

    /// The next message; `None` once the connection has ended. Waits for
    /// ever while there are no ears.
    pub(super) async fn next(ears: &mut Option<Self>) -> Option<Heard> {
        let Some(ears) = ears else { return std::future::pending().await };
        tokio::select! {
            biased; // questions are rare and come from people
            ask = ears.asks.next() => {
                ask.map(|(what, message)| Heard::Ask(what, message))
            }
            request = ears.requests.next() => request.map(Heard::Request),
        }
    }
}

async fn share(
    voice: &Voice<'_>,
    subject: String,
) -> Result<Subscriber, Stuck> {
    let group = voice.names.group();
    let made = voice.client.queue_subscribe(subject, group);
    settle(tokio::time::timeout(voice.limit, made).await)
}

/// Subscribes alone, outside the group.
pub(super) async fn listen(
    voice: &Voice<'_>,
    subject: String,
) -> Result<Subscriber, Stuck> {
    let made = voice.client.subscribe(subject);
    settle(tokio::time::timeout(voice.limit, made).await)
}

/// Subjects are made of checked tokens, so a subscription fails only where
/// the connection has ended.
fn settle<E, T>(
    made: Result<Result<Subscriber, E>, T>,
) -> Result<Subscriber, Stuck> {
    made.map_err(|_| Stuck)?.map_err(|_| Stuck)
}
