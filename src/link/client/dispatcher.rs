use super::offers::Offers;
use super::run::Run;
use crate::contract::{
    AskKind, Clock, DispatcherId, JobId, NodeId, Subjects, Timestamp, Token,
};
use crate::link::auth;
use crate::link::config::{LinkAuth, LinkTls};
use crate::link::error::LinkError;
use crate::link::jitter::{Backoff, Jitter};
use crate::link::wire;
use async_nats::{Client, Message};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What a dispatcher must be told.
#[derive(Clone)]
pub struct DispatcherConfig {
    /// Server URLs.
    pub servers: Vec<String>,
    /// Who we are to the server.
    pub auth: LinkAuth,
    /// How the connection is protected.
    pub tls: LinkTls,
    /// The first token of every subject.
    pub prefix: Token,
    /// What reply subjects begin with; `_INBOX` where absent.
    pub inbox_prefix: Option<String>,
    /// Our own token, the last of the subjects we send on.
    pub dispatcher: DispatcherId,
    /// What frames are stamped with.
    pub clock: Arc<dyn Clock>,
    /// How often nodes say their offers: 10 s unless they are told otherwise.
    pub offers_every: Duration,
    /// How long an answer is waited for.
    pub answer_within: Duration,
}

/// A dispatcher: sends jobs to nodes, and hears of them.
#[derive(Clone)]
pub struct Dispatcher {
    pub(super) client: Client,
    pub(super) subjects: Subjects,
    pub(super) me: DispatcherId,
    clock: Arc<dyn Clock>,
    offers_every: Duration,
    seq: Arc<AtomicU64>,
}

/// An artifact that a node has.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ArtifactSeen {
    /// Its name.
    pub name: String,
    /// Its exact version.
    pub version: String,
    /// The class that runs it.
    pub class: String,
    /// The digest of its image, where it has one of its own.
    #[serde(default)]
    pub digest: Option<String>,
    /// Whether it can run now.
    pub ready: bool,
}

#[derive(Deserialize)]
struct Artifacts {
    artifacts: Vec<ArtifactSeen>,
}

impl Dispatcher {
    /// Connects. A connection that breaks later is made again by itself.
    ///
    /// # Errors
    /// When no server takes us now.
    pub async fn connect(config: DispatcherConfig) -> Result<Self, LinkError> {
        let servers: Vec<_> = config
            .servers
            .iter()
            .map(|server| wire::parse(server))
            .collect::<Result<_, _>>()?;
        let first = servers.first().ok_or(LinkError::NoServer)?;
        let options = auth::options(&config.auth, first).await?;
        let options = auth::protect(options, &config.tls, first);
        let options = auth::inboxes(options, config.inbox_prefix.as_deref())
            .name(format!("ovnode dispatcher {}", config.dispatcher))
            .ping_interval(Duration::from_secs(4))
            .request_timeout(Some(config.answer_within))
            .reconnect_delay_callback(pauses(&config));
        let named = config.servers.join(", ");
        let who = auth::who(&config.auth);
        let made = options.connect(servers).await;
        let client = made.map_err(|err| wire::failure(named, who, err))?;
        Ok(Self {
            client,
            subjects: Subjects::new(config.prefix),
            me: config.dispatcher,
            clock: config.clock,
            offers_every: config.offers_every,
            seq: Arc::new(AtomicU64::new(0)),
        })
    }

    /// Hears what the fleet offers, from now on.
    ///
    /// # Errors
    /// When the connection has ended for good.
    pub async fn offers(&self) -> Result<Offers, LinkError> {
        let subject = self.subjects.all_offers();
        let heard = self.listen(subject).await?;
        Ok(Offers::new(heard, self.offers_every))
    }

    /// One job at one node. Listens to the job's story; sends nothing yet.
    ///
    /// # Errors
    /// When the job has no id, or the connection has ended for good.
    pub async fn job(
        &self,
        node: NodeId,
        job: Value,
    ) -> Result<Run, LinkError> {
        let id = job.get("id").and_then(Value::as_str).unwrap_or_default();
        let id =
            JobId::try_from(id.to_owned()).map_err(|_| LinkError::NoJobId)?;
        let story = self.listen(self.subjects.story(&id)).await?;
        Ok(Run::new(self.clone(), node, (id, job), story))
    }

    /// What a node can run.
    ///
    /// # Errors
    /// When it does not answer, or not as the contract says.
    pub async fn artifacts(
        &self,
        node: &NodeId,
    ) -> Result<Vec<ArtifactSeen>, LinkError> {
        let subject = self.subjects.ask(node, AskKind::Artifacts, &self.me);
        let answer = self.request(node, subject, Vec::new()).await?;
        let read = serde_json::from_slice::<Artifacts>(&answer.payload);
        let read = read.map_err(|err| bad_answer(node, err))?;
        Ok(read.artifacts)
    }

    /// The public part of a node's status.
    ///
    /// # Errors
    /// When it does not answer, or not with JSON.
    pub async fn status(&self, node: &NodeId) -> Result<Value, LinkError> {
        let subject = self.subjects.ask(node, AskKind::Status, &self.me);
        let answer = self.request(node, subject, Vec::new()).await?;
        serde_json::from_slice(&answer.payload)
            .map_err(|err| bad_answer(node, err))
    }

    async fn listen(
        &self,
        subject: String,
    ) -> Result<async_nats::Subscriber, LinkError> {
        let heard = self.client.subscribe(subject.clone()).await;
        heard.map_err(|source| LinkError::Listen { subject, source })
    }

    pub(super) async fn request(
        &self,
        node: &NodeId,
        subject: String,
        payload: Vec<u8>,
    ) -> Result<Message, LinkError> {
        let asked = self.client.request(subject.clone(), payload.into());
        let node = node.to_string();
        asked.await.map_err(|source| LinkError::NoAnswer {
            node,
            subject,
            source,
        })
    }

    /// The next frame's number and stamp.
    pub(super) fn stamp(&self) -> (u64, Timestamp) {
        let seq = self.seq.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        (seq, self.clock.now().wall)
    }
}

pub(super) fn bad_answer(
    node: &NodeId,
    why: impl std::error::Error + Send + Sync + 'static,
) -> LinkError {
    let source = Box::new(why);
    LinkError::BadAnswer { node: node.to_string(), source }
}

/// Pauses between attempts to reconnect, scattered as those of nodes are.
fn pauses(
    config: &DispatcherConfig,
) -> impl Fn(usize) -> Duration + Send + Sync + 'static {
    let seed = format!("{} {:?}", config.dispatcher, config.clock.now());
    let base = Duration::from_millis(500);
    let pauses = Backoff::new(base, Duration::from_secs(30));
    let pauses = Mutex::new((pauses, Jitter::new(&seed)));
    move |attempt| {
        let mut pauses = pauses.lock().unwrap_or_else(PoisonError::into_inner);
        let (pauses, jitter) = &mut *pauses;
        if attempt <= 1 {
            pauses.reset();
        }
        pauses.next(jitter)
    }
}
