use super::schedule::Budget;
use super::{Gist, Levels, Said, Statement, When, due};
use crate::contract::{
    Availability, BootMs, HealthStatus, Now, OfferKind, Reason, ReasonCode,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// Which offers of a moment are said, and when to look again: a pure state
/// machine, told the time.
#[derive(Debug)]
pub struct Speaker {
    interval: Duration,
    random: u64,
    said: BTreeMap<String, (Said, Statement)>,
    budget: Budget,
}

/// What a moment comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// To be said now, in this order.
    pub say: Vec<Statement>,
    /// When to look again if nothing changes before.
    pub wake: BootMs,
}

impl Speaker {
    /// One that has said nothing yet. `seed` differs from node to node and
    /// from start to start.
    pub fn new(interval: Duration, seed: u64) -> Self {
        Self {
            interval,
            random: seed,
            said: BTreeMap::new(),
            budget: Budget::default(),
        }
    }

    /// Takes all offers of a moment. The most urgent are said first; what
    /// is over the limit of a second waits, and is made anew when its turn
    /// comes, so that nothing old is said.
    pub fn turn(
        &mut self,
        offers: Vec<Statement>,
        levels: Levels,
        now: Now,
    ) -> Turn {
        let given_up = self.given_up(&offers, now);
        let mut waits = Vec::new();
        for offer in offers {
            let gist = Gist::of(&offer, levels);
            let said = self.said.get(&offer.offer.offer_id);
            let when = due(said.map(|(said, _)| said), &gist, now.boot);
            // Of those due now, who spoke last the longest ago goes first.
            let since = said.map_or(BootMs(0), |(said, _)| said.at);
            waits.push((when, since, gist, offer));
        }
        waits.sort_by_key(|(when, since, ..)| (*when, *since));
        let mut say = given_up;
        // Until something is due there is nothing to wait for but a change.
        let mut wake = BootMs(u64::MAX);
        for (when, _, gist, offer) in waits {
            match when {
                When::At(at) => wake = wake.min(at),
                When::Now if self.budget.spare(now.boot) == 0 => {
                    let next = self.budget.next();
                    wake = wake.min(next.unwrap_or(wake));
                }
                When::Now => {
                    wake = wake.min(self.keep(gist, &offer, now.boot));
                    say.push(offer);
                }
            }
        }
        Turn { say, wake }
    }

    /// The last word under every id: send nothing. It is not held back by
    /// the limit, as nothing comes after it.
    pub fn last_words(&mut self, now: Now) -> Vec<Statement> {
        let said = std::mem::take(&mut self.said);
        let stopping =
            Reason::new(ReasonCode::Stopping, "the node is going away");
        said.into_values()
            .map(|(_, last)| farewell(last, stopping.clone(), now))
            .collect()
    }

    fn given_up(&mut self, offers: &[Statement], now: Now) -> Vec<Statement> {
        let kept = |id: &String| {
            offers.iter().any(|offer| offer.offer.offer_id == *id)
        };
        // A node that yields its id says nothing at all, not even that: the
        // subjects are another's now.
        if offers.is_empty() {
            self.said.clear();
        }
        let gone: Vec<String> =
            self.said.keys().filter(|id| !kept(id)).cloned().collect();
        let reason = Reason::new(ReasonCode::Stopping, "no longer offered");
        gone.iter()
            .filter_map(|id| self.said.remove(id))
            .map(|(_, last)| farewell(last, reason.clone(), now))
            .collect()
    }

    fn keep(&mut self, gist: Gist, offer: &Statement, now: BootMs) -> BootMs {
        self.budget.spend(now);
        let random = self.random();
        let said = Said::new(now, gist, self.interval, random);
        let next = said.next;
        let id = offer.offer.offer_id.clone();
        self.said.insert(id, (said, offer.clone()));
        next
    }

    /// The next of a sequence of SplitMix64, as a number from 0 to 1. What
    /// it spreads needs no secret, only to differ between nodes.
    fn random(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.random;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ (x >> 31)) as f64 / u64::MAX as f64
    }
}

fn farewell(last: Statement, reason: Reason, now: Now) -> Statement {
    let mut offer = last.offer;
    offer.health.status = HealthStatus::Down;
    offer.capabilities.retain(|capability| !capability.is_reserved());
    offer.capacity = None;
    offer.latency_ms = None;
    offer.updated_at = now.wall;
    if let OfferKind::Runtime(detail) = &mut offer.kind {
        detail.availability = Availability::Unavailable;
    }
    Statement { offer, reasons: vec![reason] }
}

#[cfg(test)]
mod tests {
    use super::{Speaker, Turn};
    use crate::contract::{BootMs, HealthStatus, Now, Timestamp};
    use crate::offer::fixture::Fixture;
    use crate::offer::{Condition, Finding, Levels, statements};
    use std::time::Duration;

    fn at(ms: u64) -> Now {
        let wall = Timestamp(1_700_000_000_000 + ms);
        Now { wall, boot: BootMs(ms), ..Now::default() }
    }

    fn turn(speaker: &mut Speaker, of: &mut Fixture, ms: u64) -> Turn {
        let now = at(ms);
        of.measured(now);
        let facts = of.facts(now);
        speaker.turn(statements(&facts), Levels::of(&facts), now)
    }

    fn ids(turn: &Turn) -> Vec<&str> {
        turn.say.iter().map(|said| said.offer.offer_id.as_str()).collect()
    }

    fn speaker() -> Speaker {
        Speaker::new(Duration::from_secs(10), 7)
    }

    #[test]
    fn a_quiet_node_speaks_once_an_interval() {
        let (mut speaker, mut node) = (speaker(), Fixture::new());
        let mut times = Vec::new();
        for ms in (0..=100_000).step_by(100) {
            let turn = turn(&mut speaker, &mut node, ms);
            times.extend(turn.say.iter().map(|_| ms));
        }
        assert!((9..=12).contains(&times.len()), "{times:?}");
        let gaps = times.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.into_iter().all(|gap| (9_000..=11_000).contains(&gap)));
    }

    #[test]
    fn a_flapping_node_says_four_a_second_and_the_last_state_at_the_end() {
        let (mut speaker, mut node) = (speaker(), Fixture::new());
        let mut last = None;
        let mut times = Vec::new();
        for ms in (0..3000).step_by(10) {
            let free = u32::from(ms % 20 == 0 && ms < 2000);
            node.slots("function", free);
            for said in turn(&mut speaker, &mut node, ms).say {
                times.push(ms);
                let capacity = said.offer.capacity.unwrap();
                last = capacity.workers.unwrap().get("function").copied();
            }
        }
        for start in &times {
            let second = *start..start + 1000;
            let said = times.iter().filter(|at| second.contains(at));
            assert!(said.count() <= 4);
        }
        assert_eq!(last, Some(0));
    }

    #[test]
    fn what_is_over_the_limit_is_said_when_its_turn_comes() {
        let (mut speaker, mut node) = (speaker(), Fixture::new());
        for name in ["a", "b", "c", "d", "e"] {
            node.runtime(name);
        }
        let first = turn(&mut speaker, &mut node, 0);
        assert_eq!(first.say.len(), 4);
        assert_eq!(ids(&first)[0], "off_n1_node");
        assert_eq!(first.wake, BootMs(1000));
        assert_eq!(turn(&mut speaker, &mut node, 999).say.len(), 0);
        let second = turn(&mut speaker, &mut node, 1000);
        assert_eq!(ids(&second), ["off_n1_runtime_d", "off_n1_runtime_e"]);
    }

    #[test]
    fn a_subject_given_up_gets_a_last_down() {
        let (mut speaker, mut node) = (speaker(), Fixture::new());
        node.runtime("a");
        turn(&mut speaker, &mut node, 0);
        node.plan.runtimes.clear();
        let turn = turn(&mut speaker, &mut node, 100);
        assert_eq!(ids(&turn), ["off_n1_runtime_a"]);
        assert_eq!(turn.say[0].offer.health.status, HealthStatus::Down);
    }

    #[test]
    fn the_last_word_of_a_node_is_down_and_promises_nothing() {
        let (mut speaker, mut node) = (speaker(), Fixture::new());
        turn(&mut speaker, &mut node, 0);
        let words = speaker.last_words(at(50));
        assert_eq!(words.len(), 1);
        let offer = &words[0].offer;
        assert_eq!(offer.health.status, HealthStatus::Down);
        assert!(!offer.capabilities.iter().any(|c| c.is_reserved()));
        assert_eq!(offer.capacity, None);
        assert_eq!(words[0].reasons[0].code.as_str(), "stopping");
        assert_eq!(speaker.last_words(at(60)), []);
    }

    #[test]
    fn a_node_that_yields_its_id_falls_silent_without_a_last_word() {
        let (mut speaker, mut node) = (speaker(), Fixture::new());
        turn(&mut speaker, &mut node, 0);
        let finding = Finding::new(Condition::Duplicate, "a later start");
        node.view.findings.push(finding);
        assert_eq!(turn(&mut speaker, &mut node, 100).say, []);
        assert_eq!(speaker.last_words(at(200)), []);
    }
}
