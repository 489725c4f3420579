use super::LONG;
use super::nats::Nats;
use async_nats::{Message, Subscriber};
use futures::StreamExt;
use tokio::time::timeout;

const SYNC: &str = "_INBOX.recorder";

/// One message that passed.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) subject: String,
    pub(crate) text: String,
    pub(crate) reply: Option<String>,
    pub(crate) reasons: Vec<String>,
}

/// A subscription that was there first, and what it heard so far.
pub(crate) struct Recorder {
    subscriber: Subscriber,
    pub(crate) heard: Vec<Heard>,
}

impl Recorder {
    /// Records all messages of `nats` on `subject` from now on.
    pub(crate) async fn of(nats: &Nats, subject: &str) -> Self {
        let client = nats.client().await;
        let subscriber = client.subscribe(subject.to_owned()).await.unwrap();
        // A message to ourselves that is back proves that the subscription
        // before it has arrived.
        let mut echo = client.subscribe(SYNC).await.unwrap();
        client.publish(SYNC, "".into()).await.unwrap();
        timeout(LONG, echo.next()).await.unwrap();
        Self { subscriber, heard: Vec::new() }
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Heard {
        loop {
            let message = timeout(LONG, self.subscriber.next()).await;
            let heard = Heard::from(message.unwrap().unwrap());
            if heard.subject != SYNC {
                self.heard.push(heard.clone());
                return heard;
            }
        }
    }

    /// The next message on a subject that holds `part`.
    pub(crate) async fn next_on(&mut self, part: &str) -> Heard {
        loop {
            let heard = self.next().await;
            if heard.subject.contains(part) {
                return heard;
            }
        }
    }
}

impl From<Message> for Heard {
    fn from(message: Message) -> Self {
        let headers = message.headers.unwrap_or_default();
        let reasons = headers.get_all("Ov-Reason");
        Self {
            subject: message.subject.to_string(),
            text: String::from_utf8_lossy(&message.payload).into_owned(),
            reply: message.reply.map(|reply| reply.to_string()),
            reasons: reasons.map(ToString::to_string).collect(),
        }
    }
}
