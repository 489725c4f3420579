use super::config::LinkConfig;
use super::counts::Count;
use super::denial::{self, Denials};
use super::ears::{self, Ears, Heard};
use super::reader::Desk;
use super::rival::Verdict;
use super::service::Registration;
use super::voice::{Stuck, Voice};
use crate::contract::{Clock, Timestamp};
use async_nats::{Event, Message, ServerError, Subscriber};
use futures::StreamExt;
use std::ops::ControlFlow::{self, Break, Continue};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// How a session ended.
#[derive(Debug)]
pub(super) enum End {
    /// The daemon is ending.
    Stopped,
    /// The connection broke.
    Lost(String),
    /// Our own messages did not come back.
    Deaf,
}

impl From<Stuck> for End {
    fn from(_: Stuck) -> Self {
        Self::Lost("the connection took nothing more".to_owned())
    }
}

/// What a session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Listening for others under our id, before it serves.
    Looking { until: Instant },
    /// Subscribed; what was sent since is not confirmed yet.
    Proving,
    /// Serving.
    Serving,
    /// Another was here first; looking again then.
    Yielded { until: Instant },
}

/// What happened.
enum Input {
    Stop,
    Event(Event),
    Own(Message),
    Reply(Message),
    Heard(Heard),
    Timer,
    Closed,
}

/// One connection's life, from the first look around to its end.
pub(super) struct Session<'a> {
    pub(super) config: &'a LinkConfig,
    pub(super) voice: &'a Voice<'a>,
    pub(super) desk: &'a Desk,
    pub(super) clock: &'a dyn Clock,
    /// The server's host and port.
    pub(super) server: String,
    /// Counts sessions, from 1.
    pub(super) number: u64,
    /// How long offers are held back once it serves.
    pub(super) hold: Duration,
    pub(super) events: mpsc::Receiver<Event>,
    pub(super) own: Subscriber,
    pub(super) replies: Subscriber,
    pub(super) ears: Option<Ears>,
    pub(super) registration: Option<Registration>,
    pub(super) phase: Phase,
    pub(super) since: Timestamp,
    pub(super) rival: Option<String>,
    pub(super) next_echo: Instant,
    pub(super) denials: Denials,
    pub(super) last_error: Option<String>,
}

/// What a session is made of.
pub(super) struct Parts<'a> {
    pub(super) config: &'a LinkConfig,
    pub(super) voice: &'a Voice<'a>,
    pub(super) desk: &'a Desk,
    pub(super) clock: &'a dyn Clock,
    pub(super) server: String,
    pub(super) number: u64,
    pub(super) hold: Duration,
    pub(super) events: mpsc::Receiver<Event>,
}

impl<'a> Session<'a> {
    /// Starts to look around.
    pub(super) async fn open(parts: Parts<'a>) -> Result<Self, Stuck> {
        let voice = parts.voice;
        let own = ears::listen(voice, voice.names.own()).await?;
        let replies = ears::listen(voice, voice.inbox.clone()).await?;
        voice.ask(None).await?;
        let until = Instant::now() + parts.config.timing.rival_window;
        Ok(Self {
            config: parts.config,
            voice,
            desk: parts.desk,
            clock: parts.clock,
            server: parts.server,
            number: parts.number,
            hold: parts.hold,
            events: parts.events,
            own,
            replies,
            ears: None,
            registration: None,
            phase: Phase::Looking { until },
            since: parts.clock.now().wall,
            rival: None,
            next_echo: until,
            denials: Denials::default(),
            last_error: None,
        })
    }

    /// Runs until the session ends.
    pub(super) async fn run(&mut self, stop: &CancellationToken) -> End {
        loop {
            let input = self.next(stop).await;
            if let Break(end) = self.handle(input).await {
                return end;
            }
            if let Break(end) = self.advance(Instant::now()).await {
                return end;
            }
        }
    }

    async fn next(&mut self, stop: &CancellationToken) -> Input {
        let wake = self.wake_at(Instant::now());
        let closed = |message, or: fn(Message) -> Input| match message {
            Some(message) => or(message),
            None => Input::Closed,
        };
        tokio::select! {
            biased; // a flood of requests must hide nothing else
            () = stop.cancelled() => Input::Stop,
            Some(event) = self.events.recv() => Input::Event(event),
            own = self.own.next() => closed(own, Input::Own),
            reply = self.replies.next() => closed(reply, Input::Reply),
            () = sleep_until(wake) => Input::Timer,
            heard = Ears::next(&mut self.ears) => match heard {
                Some(heard) => Input::Heard(heard),
                None => Input::Closed,
            },
        }
    }

    /// When the next thing is due that no message brings.
    fn wake_at(&self, now: Instant) -> Instant {
        let oldest = self.voice.echoes().oldest();
        let overdue = oldest.map(|at| at + self.config.timing.echo_limit);
        let phase = match self.phase {
            Phase::Looking { until } | Phase::Yielded { until } => Some(until),
            Phase::Proving | Phase::Serving => None,
        };
        let echo = (!self.blind()).then_some(self.next_echo);
        [overdue.filter(|_| !self.blind()), phase, echo]
            .into_iter()
            .flatten()
            .filter(|at| *at > now)
            .min()
            // Something is always due: this is for the compiler.
            .unwrap_or(now + self.config.timing.echo_every)
    }

    async fn handle(&mut self, input: Input) -> ControlFlow<End> {
        match input {
            Input::Stop => {
                // What is written already may still leave.
                let flushed = self.voice.client.flush();
                drop(tokio::time::timeout(self.voice.limit, flushed).await);
                return Break(End::Stopped);
            }
            Input::Closed => return Break(End::Lost(self.why())),
            Input::Event(event) => self.note(event),
            Input::Own(message) => self.hear_own(&message),
            Input::Reply(message) => drop(self.hear(&message)),
            Input::Heard(Heard::Ask(what, it)) => self.desk.ask(what, it),
            Input::Heard(Heard::Request(it)) => self.desk.request(it),
            Input::Timer => {}
        }
        Continue(())
    }

    /// Why the connection broke, as far as anyone said.
    fn why(&self) -> String {
        self.last_error.clone().unwrap_or("the connection broke".to_owned())
    }

    /// Takes note of what the client or the server says beside messages.
    fn note(&mut self, event: Event) {
        match event {
            Event::SlowConsumer(_) => {
                let message = "messages were dropped before they were read";
                self.voice.shared.counts.warn(Count::Slow, message);
            }
            Event::ServerError(ServerError::Other(text)) => {
                match denial::read(&text) {
                    Some(denial) => self.deny(denial),
                    None => self.last_error = Some(text),
                }
            }
            Event::ServerError(error) => {
                self.last_error = Some(error.to_string());
            }
            Event::LameDuckMode => {
                tracing::info!(server = %self.server, "server is going away");
            }
            Event::Connected
            | Event::Disconnected
            | Event::Draining
            | Event::Closed
            | Event::ClientError(_) => {}
        }
    }

    fn deny(&mut self, denial: denial::Denial) {
        let what = denial.to_string();
        if self.denials.note(denial) {
            tracing::error!(server = %self.server, what, "forbidden by NATS");
            self.tell();
        }
    }

    /// A message on the node's own subject: our echo, another daemon under
    /// our id, or someone who wants to know who lives here.
    fn hear_own(&mut self, message: &Message) {
        if self.hear(message) != Some(Verdict::Myself) {
            self.desk.answer(message, self.voice.answer());
        }
    }
}
