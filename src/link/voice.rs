use super::echo::Echoes;
use super::handle::Shared;
use super::names::Names;
use super::outbox::Outgoing;
use super::rival::Presence;
use async_nats::{Client, HeaderMap, PublishErrorKind};
use bytes::Bytes as Payload;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::counts::Count;

/// The connection takes nothing more: it is as good as broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stuck;

/// What one session can say. Shared by its reader and its pump.
#[derive(Debug)]
pub(super) struct Voice<'a> {
    pub(super) client: &'a Client,
    pub(super) names: &'a Names,
    pub(super) shared: &'a Shared,
    /// Who we are to others under our id.
    pub(super) presence: Presence,
    /// Where they answer.
    pub(super) inbox: String,
    /// Longest wait for the client to take one message.
    pub(super) limit: Duration,
    /// Whether offers may be made: proven, and not yielded.
    serving: AtomicBool,
    echoes: Mutex<Echoes>,
}

impl<'a> Voice<'a> {
    pub(super) fn new(
        client: &'a Client,
        names: &'a Names,
        shared: &'a Shared,
        presence: Presence,
        limit: Duration,
    ) -> Self {
        Self {
            client,
            names,
            shared,
            presence,
            inbox: client.new_inbox(),
            limit,
            serving: AtomicBool::new(false),
            echoes: Mutex::new(Echoes::default()),
        }
    }

    pub(super) fn echoes(&self) -> MutexGuard<'_, Echoes> {
        self.echoes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn serving(&self) -> bool {
        self.serving.load(Ordering::Relaxed)
    }

    pub(super) fn serve(&self, serving: bool) {
        self.serving.store(serving, Ordering::Relaxed);
        self.shared.said.notify_one();
    }

    /// Asks our own id who lives under it. The question itself comes back
    /// too, which proves that what was sent before it has arrived; `told`
    /// hears of that.
    pub(super) async fn ask(
        &self,
        told: Option<oneshot::Sender<()>>,
    ) -> Result<(), Stuck> {
        let number = self.echoes().sent(Instant::now(), told);
        let presence = Presence { echo: Some(number), ..self.presence.clone() };
        let publish = self.client.publish_with_reply(
            self.names.own(),
            self.inbox.clone(),
            json(&presence),
        );
        self.judge(tokio::time::timeout(self.limit, publish).await)
    }

    /// Our answer to who asks.
    pub(super) fn answer(&self) -> Payload {
        json(&self.presence)
    }

    /// An empty message that only proves that it may be published.
    pub(super) async fn probe(&self) -> Result<(), Stuck> {
        let mut headers = HeaderMap::new();
        headers.insert("Ov-Probe", "1");
        self.publish(self.names.probe(), headers, Payload::new()).await
    }

    /// Hands one message to the client.
    pub(super) async fn say(&self, out: Outgoing) -> Result<(), Stuck> {
        let mut headers = HeaderMap::new();
        for reason in &out.reasons {
            headers.append("Ov-Reason", reason.to_string());
        }
        if let Some(id) = &out.message_id {
            headers.insert("Nats-Msg-Id", id.as_str());
        }
        self.publish(out.subject, headers, out.payload).await
    }

    async fn publish(
        &self,
        subject: String,
        headers: HeaderMap,
        payload: Payload,
    ) -> Result<(), Stuck> {
        let said = async {
            if headers.is_empty() {
                self.client.publish(subject, payload).await
            } else {
                let client = self.client;
                client.publish_with_headers(subject, headers, payload).await
            }
        };
        self.judge(tokio::time::timeout(self.limit, said).await)
    }

    fn judge(
        &self,
        said: Result<
            Result<(), async_nats::PublishError>,
            tokio::time::error::Elapsed,
        >,
    ) -> Result<(), Stuck> {
        let Ok(said) = said else { return Err(Stuck) };
        match said.map_err(|err| err.kind()) {
            Ok(()) => Ok(()),
            Err(PublishErrorKind::Send) => Err(Stuck),
            Err(
                PublishErrorKind::MaxPayloadExceeded
                | PublishErrorKind::InvalidSubject,
            ) => {
                let message = "a message was dropped: the server takes none \
                               so large, or not on that subject";
                self.shared.counts.warn(Count::Unsendable, message);
                Ok(())
            }
        }
    }
}

/// A presence is two short texts and two numbers: it always has a JSON form,
/// and an empty message would only make the asker wait.
fn json(presence: &Presence) -> Payload {
    serde_json::to_vec(presence).unwrap_or_default().into()
}
