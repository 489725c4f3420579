use super::counts::Count;
use super::ears::Ears;
use super::handle::RoundTrip;
use super::rival::{self, Presence, Verdict};
use super::service;
use super::session::{End, Phase, Session};
use super::state::LinkState;
use super::voice::Stuck;
use async_nats::Message;
use std::ops::ControlFlow::{self, Break, Continue};
use tokio::time::Instant;

/// What the next step of a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Wait,
    Ask,
    LookAgain,
    Subscribe,
    Serve,
    Yield,
    Deaf,
}

/// The facts that decide it.
#[derive(Clone, Copy, Debug)]
struct Facts {
    phase: Phase,
    now: Instant,
    /// By when the oldest message to ourselves must be back.
    overdue: Option<Instant>,
    /// The server lets us not speak to ourselves, so nothing comes back.
    blind: bool,
    /// Another daemon under our id was here first.
    rival: bool,
    next_echo: Instant,
}

/// Decides the next step.
fn decide(facts: Facts) -> Step {
    let Facts { phase, now, overdue, blind, rival, next_echo } = facts;
    if !blind && overdue.is_some_and(|at| at <= now) {
        return Step::Deaf;
    }
    let settled = blind || overdue.is_none();
    match phase {
        Phase::Looking { until } if until <= now && settled => {
            if rival {
                Step::Yield
            } else {
                Step::Subscribe
            }
        }
        Phase::Proving | Phase::Serving if rival => Step::Yield,
        Phase::Proving if settled => Step::Serve,
        Phase::Yielded { until } if until <= now => Step::LookAgain,
        Phase::Looking { .. }
        | Phase::Proving
        | Phase::Serving
        | Phase::Yielded { .. } => {
            if !blind && next_echo <= now {
                Step::Ask
            } else {
                Step::Wait
            }
        }
    }
}

impl Session<'_> {
    /// Whether the server forbids us to speak to ourselves: then nothing
    /// comes back, and that means nothing.
    pub(super) fn blind(&self) -> bool {
        let own = self.voice.names.own();
        self.denials.deafens(&own) || self.denials.silences(&own)
    }

    /// Takes the steps that are due.
    pub(super) async fn advance(&mut self, now: Instant) -> ControlFlow<End> {
        let oldest = self.voice.echoes().oldest();
        let limit = self.config.timing.echo_limit;
        let step = decide(Facts {
            phase: self.phase,
            now,
            overdue: oldest.map(|at| at + limit),
            blind: self.blind(),
            rival: self.rival.is_some(),
            next_echo: self.next_echo,
        });
        match self.take(step, now).await {
            Ok(flow) => flow,
            Err(stuck) => Break(stuck.into()),
        }
    }

    async fn take(
        &mut self,
        step: Step,
        now: Instant,
    ) -> Result<ControlFlow<End>, Stuck> {
        let timing = &self.config.timing;
        match step {
            Step::Wait => {}
            Step::Ask => {
                self.next_echo = now + timing.echo_every;
                self.voice.ask(None).await?;
            }
            Step::LookAgain => {
                self.rival = None;
                let until = now + timing.rival_window;
                self.phase = Phase::Looking { until };
                self.voice.ask(None).await?;
            }
            Step::Subscribe => self.subscribe(now).await?,
            Step::Serve => self.serve(now),
            Step::Yield => self.yield_to_rival(now),
            Step::Deaf => return Ok(Break(End::Deaf)),
        }
        Ok(Continue(()))
    }

    /// Nobody else was here first: subscribes, and asks once more behind it,
    /// so that what comes back proves the subscriptions too.
    async fn subscribe(&mut self, now: Instant) -> Result<(), Stuck> {
        self.ears = Some(Ears::open(self.voice).await?);
        let service = service::register(self.voice.client, self.config).await;
        self.registration = Some(service);
        self.voice.probe().await?;
        self.voice.ask(None).await?;
        self.phase = Phase::Proving;
        // Two that started together see each other at the latest now.
        self.next_echo = now + self.config.timing.rival_again;
        Ok(())
    }

    fn serve(&mut self, now: Instant) {
        self.phase = Phase::Serving;
        self.since = self.clock.now().wall;
        // The first offers of a daemon wait for nobody.
        let hold = (self.number > 1).then(|| now + self.hold);
        self.voice.shared.sayings().repeat(hold);
        tracing::info!(server = %self.server, "connected and serving");
        self.tell();
    }

    fn yield_to_rival(&mut self, now: Instant) {
        self.ears = None;
        self.registration = None;
        self.voice.serve(false);
        let until = now + self.config.timing.rival_recheck;
        self.phase = Phase::Yielded { until };
        let rival = self.rival.clone().unwrap_or_default();
        let since = self.clock.now().wall;
        let state = &self.voice.shared.state;
        let news = state.send_if_modified(|state| {
            let known = matches!(state,
                LinkState::Yielded { rival: known, .. } if *known == rival);
            if !known {
                let rival = rival.clone();
                *state = LinkState::Yielded { since, rival };
            }
            !known
        });
        if news {
            tracing::error!(rival, "yielding: another daemon has this id");
        }
    }

    /// Tells how the link is, once it serves.
    pub(super) fn tell(&mut self) {
        if self.phase != Phase::Serving {
            return;
        }
        let denied = self.denials.list();
        let serving = !self.denials.deafens(&self.voice.names.requests());
        let (since, session) = (self.since, self.number);
        let server = self.server.clone();
        self.voice.serve(serving);
        self.voice.shared.state.send_replace(if denied.is_empty() {
            LinkState::Connected { since, server, session }
        } else {
            LinkState::Denied { since, server, session, denied, serving }
        });
    }

    /// Hears who lives under our id; `None` where that cannot be read.
    pub(super) fn hear(&mut self, message: &Message) -> Option<Verdict> {
        let heard = serde_json::from_slice::<Presence>(&message.payload);
        let Ok(theirs) = heard else {
            return None;
        };
        let verdict = rival::judge(&self.voice.presence, &theirs);
        match verdict {
            Verdict::Myself => self.echo_is_back(theirs.echo),
            Verdict::Yield => self.rival = Some(theirs.instance),
            Verdict::Stay => self.voice.shared.counts.warn(
                Count::Rivals,
                "another daemon has this node's id; it came later and yields",
            ),
        }
        Some(verdict)
    }

    fn echo_is_back(&mut self, number: Option<u64>) {
        let Some(number) = number else { return };
        let took = self.voice.echoes().back(number, Instant::now());
        if let Some(took) = took {
            self.voice.shared.round_trip.send_modify(|trip| {
                let number = trip.number.saturating_add(1);
                *trip = RoundTrip { number, took };
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn facts(phase: Phase) -> Facts {
        let now = Instant::now();
        Facts {
            phase,
            now,
            overdue: None,
            blind: false,
            rival: false,
            next_echo: now + Duration::from_secs(5),
        }
    }

    #[test]
    fn a_node_serves_only_after_it_listened_for_others() {
        let mut facts = facts(Phase::Proving);
        let until = facts.now + Duration::from_millis(1);
        facts.phase = Phase::Looking { until };
        assert_eq!(decide(facts), Step::Wait);
        facts.now = until;
        assert_eq!(decide(facts), Step::Subscribe);
        facts.rival = true;
        assert_eq!(decide(facts), Step::Yield);
    }

    #[test]
    fn a_node_that_cannot_hear_itself_is_deaf_unless_it_is_forbidden() {
        let mut facts = facts(Phase::Serving);
        facts.overdue = Some(facts.now);
        assert_eq!(decide(facts), Step::Deaf);
        facts.blind = true;
        assert_eq!(decide(facts), Step::Wait);
    }

    #[test]
    fn nothing_is_served_before_the_server_has_confirmed_it() {
        let mut facts = facts(Phase::Proving);
        facts.overdue = Some(facts.now + Duration::from_secs(1));
        assert_eq!(decide(facts), Step::Wait);
        facts.overdue = None;
        assert_eq!(decide(facts), Step::Serve);
    }

    #[test]
    fn a_rival_seen_while_serving_ends_it() {
        let mut facts = facts(Phase::Serving);
        facts.rival = true;
        assert_eq!(decide(facts), Step::Yield);
        facts.phase = Phase::Yielded { until: facts.now };
        assert_eq!(decide(facts), Step::LookAgain);
    }
}
