use super::auth::Stamp;
use super::config::LinkConfig;
use super::counts::Count;
use super::error::{LinkError, chain};
use super::handle::{LinkHandle, Shared};
use super::inbound::Inbound;
use super::jitter::{Backoff, Jitter};
use super::lane::Lane;
use super::names::Names;
use super::outbox::outbox;
use super::pump::{Pump, Queues};
use super::reader::Desk;
use super::rival::Presence;
use super::session::{End, Parts, Session};
use super::state::LinkState;
use super::voice::{Stuck, Voice};
use super::wire::{self, Wire};
use crate::contract::{Clock, Timestamp};
use futures::FutureExt;
use std::ops::ControlFlow::{self, Break, Continue};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The way to NATS, kept up for as long as the daemon lives.
#[derive(Debug)]
pub struct Link;

impl Link {
    /// Starts the link; it connects by itself, for as long as that takes.
    pub fn start(
        config: LinkConfig,
        clock: Arc<dyn Clock>,
        tracker: &TaskTracker,
        stop: CancellationToken,
    ) -> (LinkHandle, Inbound) {
        let (outbox, frames, answers) = outbox();
        // One flush at a time is usual; more wait their turn.
        let (flushes, flushes_in) = mpsc::channel(8);
        let names = Names::of(&config);
        let (desk, inbound, refusals) = Desk::new(&names, outbox.clone());
        let since = clock.now().wall;
        let state = LinkState::Connecting { since, attempts: 0, why: None };
        let shared = Arc::new(Shared::new(state, Arc::clone(&outbox.counts)));
        let queues = Queues {
            answers: Lane::new(answers),
            refusals: Lane::new(refusals),
            frames: Lane::new(frames),
            flushes: flushes_in,
        };
        let timing = config.timing;
        let task = LinkTask {
            jitter: Jitter::new(&config.instance),
            pauses: Backoff::new(timing.retry_base, timing.retry_cap),
            refusals: Backoff::new(timing.refused_base, timing.refused_cap),
            config,
            names,
            clock,
            shared: Arc::clone(&shared),
            desk,
            queues,
            server: 0,
            sessions: 0,
        };
        tracker.spawn(task.run(stop));
        (LinkHandle { shared, outbox, flushes }, inbound)
    }
}

/// Makes one session after the other.
struct LinkTask {
    config: LinkConfig,
    names: Names,
    clock: Arc<dyn Clock>,
    shared: Arc<Shared>,
    desk: Desk,
    queues: Queues,
    jitter: Jitter,
    pauses: Backoff,
    refusals: Backoff,
    server: usize,
    sessions: u64,
}

/// How one attempt ended.
enum Outcome {
    NotConnected(LinkError),
    Session {
        end: End,
        lived: Duration,
    },
    /// A fault of our own; the link lives on without that session.
    Panicked,
}

/// What comes before the next attempt.
enum Pause {
    For(Duration),
    /// As long, or until the files of the credentials change.
    Refused(Duration),
}

impl LinkTask {
    async fn run(mut self, stop: CancellationToken) {
        loop {
            let before = Stamp::of(&self.config.auth, &self.config.tls).await;
            let attempt = AssertUnwindSafe(self.attempt(&stop));
            // A panic ends a session, never the link.
            let outcome =
                attempt.catch_unwind().await.unwrap_or(Outcome::Panicked);
            let Continue(pause) = self.judge(outcome) else { break };
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.wait(pause, before) => {}
            }
        }
        self.shared.state.send_replace(LinkState::Ended);
    }

    /// One attempt: a connection, and its session to the end.
    async fn attempt(&mut self, stop: &CancellationToken) -> Outcome {
        let stopped =
            Outcome::Session { end: End::Stopped, lived: Duration::ZERO };
        let server = match self.next_server() {
            Ok(server) => server,
            Err(err) => return Outcome::NotConnected(err),
        };
        let made = tokio::select! {
            () = stop.cancelled() => return stopped,
            made = wire::open(&self.config, &server) => made,
        };
        match made {
            Err(err) => Outcome::NotConnected(err),
            Ok(wire) => {
                let started = Instant::now();
                let end = self.session(wire, stop).await;
                let end = end.unwrap_or_else(End::from);
                Outcome::Session { end, lived: started.elapsed() }
            }
        }
    }

    async fn session(
        &mut self,
        wire: Wire,
        stop: &CancellationToken,
    ) -> Result<End, Stuck> {
        let Wire { client, events, server } = wire;
        self.sessions = self.shared.counts.add(Count::Sessions);
        let most = client.max_payload();
        self.shared.max_payload.store(most, Ordering::Relaxed);
        let presence = Presence {
            instance: self.config.instance.clone(),
            started_ms: self.config.started,
            echo: None,
        };
        let limit = self.config.timing.publish;
        let voice =
            Voice::new(&client, &self.names, &self.shared, presence, limit);
        let parts = Parts {
            config: &self.config,
            voice: &voice,
            desk: &self.desk,
            clock: &*self.clock,
            server,
            number: self.sessions,
            hold: self.jitter.up_to(self.config.timing.offers_window),
            events,
        };
        let mut session = Session::open(parts).await?;
        let queues = &mut self.queues;
        let mut pump = Pump { voice: &voice, queues, clock: &*self.clock };
        tokio::select! {
            end = session.run(stop) => Ok(end),
            stuck = pump.run() => Err(stuck),
        }
    }

    /// The servers in turn.
    fn next_server(&mut self) -> Result<String, LinkError> {
        let servers = &self.config.servers;
        let at = self.server.checked_rem(servers.len());
        self.server = self.server.wrapping_add(1);
        at.and_then(|at| servers.get(at)).cloned().ok_or(LinkError::NoServer)
    }

    /// Tells how it ended, and how long to wait before the next attempt.
    fn judge(&mut self, outcome: Outcome) -> ControlFlow<(), Pause> {
        let now = self.clock.now().wall;
        match outcome {
            Outcome::NotConnected(err) => Continue(self.not_connected(&err)),
            Outcome::Session { end: End::Stopped, .. } => Break(()),
            Outcome::Session { end, lived } => {
                if lived >= self.config.timing.stable_after {
                    self.pauses.reset();
                    self.refusals.reset();
                }
                self.ended(end, now);
                Continue(Pause::For(self.pauses.next(&mut self.jitter)))
            }
            Outcome::Panicked => {
                self.queues.give_up_first();
                let message = "the link's session panicked; a new one follows";
                self.shared.counts.warn(Count::Panics, message);
                self.ended(End::Lost("a fault of our own".to_owned()), now);
                Continue(Pause::For(self.pauses.next(&mut self.jitter)))
            }
        }
    }

    fn ended(&self, end: End, since: Timestamp) {
        let state = match end {
            End::Deaf => LinkState::Deaf { since },
            End::Lost(why) => {
                LinkState::Disconnected { since, attempts: 0, why }
            }
            End::Stopped => LinkState::Ended,
        };
        tracing::warn!(state = %state, "the link is down");
        self.shared.state.send_replace(state);
    }

    fn not_connected(&mut self, err: &LinkError) -> Pause {
        let now = self.clock.now().wall;
        let why = chain(err);
        let secret = matches!(
            err,
            LinkError::Refused { .. }
                | LinkError::ReadSecret { .. }
                | LinkError::BadSecret { .. }
        );
        let (pause, after): (_, fn(&LinkState, _, _) -> _) = if secret {
            (self.refusals.next(&mut self.jitter), LinkState::after_refusal)
        } else {
            (self.pauses.next(&mut self.jitter), LinkState::after_failure)
        };
        // Pauses grow, so this cannot flood the log.
        tracing::warn!(
            error = %why,
            again_in_ms = pause.as_millis(),
            "cannot connect to NATS; trying again"
        );
        self.shared.state.send_modify(|state| {
            *state = after(state, why, now);
        });
        if secret { Pause::Refused(pause) } else { Pause::For(pause) }
    }

    async fn wait(&self, pause: Pause, before: Stamp) {
        match pause {
            Pause::For(pause) => sleep(pause).await,
            Pause::Refused(pause) => {
                // Whoever mended a file wants to see it work at once. It is
                // a question of one `stat` a second.
                drop(timeout(pause, self.changed(before)).await);
            }
        }
    }

    async fn changed(&self, before: Stamp) {
        let second = Duration::from_secs(1);
        loop {
            sleep(second.min(self.config.timing.refused_base)).await;
            let now = Stamp::of(&self.config.auth, &self.config.tls).await;
            if now != before {
                return;
            }
        }
    }
}
