use super::handle::OfferOut;
use std::collections::{BTreeMap, BTreeSet};
use tokio::time::Instant;

/// Subjects that one node may say offers on. It has one for itself and one
/// for each harness and runtime: 64 is far more than any node has.
const SUBJECTS: usize = 64;

/// The latest offer of each subject, and which of them are still to be said.
/// An older one that was not said yet is worth nothing: it is replaced.
#[derive(Debug, Default)]
pub(super) struct Sayings {
    latest: BTreeMap<String, OfferOut>,
    due: BTreeSet<String>,
    hold: Option<Instant>,
}

impl Sayings {
    /// Notes an offer; false if it is one subject too many.
    pub(super) fn say(&mut self, offer: OfferOut) -> bool {
        let known = self.latest.contains_key(&offer.subject);
        if !known && self.latest.len() >= SUBJECTS {
            return false;
        }
        self.due.insert(offer.subject.clone());
        self.latest.insert(offer.subject.clone(), offer);
        true
    }

    /// Everything is to be said again, not before `hold`: after a reconnect
    /// a fleet must not speak all at once.
    pub(super) fn repeat(&mut self, hold: Option<Instant>) {
        self.due = self.latest.keys().cloned().collect();
        self.hold = hold;
    }

    /// Last words are not held back.
    pub(super) fn release(&mut self) {
        self.hold = None;
    }

    /// When the next offer may go; `None` while there is nothing to say.
    pub(super) fn next_at(&self, now: Instant) -> Option<Instant> {
        (!self.due.is_empty()).then(|| self.hold.unwrap_or(now))
    }

    /// The next offer that may go now.
    pub(super) fn take(&mut self, now: Instant) -> Option<OfferOut> {
        if self.hold.is_some_and(|hold| hold > now) {
            return None;
        }
        self.hold = None;
        let subject = self.due.pop_first()?;
        self.latest.get(&subject).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn offer(subject: &str, text: &'static str) -> OfferOut {
        OfferOut {
            subject: subject.to_owned(),
            payload: text.into(),
            reasons: Vec::new(),
        }
    }

    #[test]
    fn only_the_latest_of_a_subject_is_said_and_once() {
        let now = Instant::now();
        let mut sayings = Sayings::default();
        for text in ["1", "2", "3"] {
            sayings.say(offer("a", text));
        }
        assert_eq!(sayings.take(now).unwrap().payload, "3");
        assert!(sayings.take(now).is_none());
        assert!(sayings.next_at(now).is_none());
    }

    #[test]
    fn after_a_reconnect_all_are_said_again_but_not_before_their_moment() {
        let now = Instant::now();
        let later = now + Duration::from_secs(3);
        let mut sayings = Sayings::default();
        sayings.say(offer("a", "1"));
        sayings.take(now);
        sayings.repeat(Some(later));
        sayings.say(offer("a", "2"));
        assert!(sayings.take(now).is_none());
        assert_eq!(sayings.next_at(now), Some(later));
        assert_eq!(sayings.take(later).unwrap().payload, "2");
    }

    #[test]
    fn last_words_are_not_held_back() {
        let now = Instant::now();
        let mut sayings = Sayings::default();
        sayings.say(offer("a", "down"));
        sayings.repeat(Some(now + Duration::from_secs(3)));
        sayings.release();
        assert_eq!(sayings.take(now).unwrap().payload, "down");
    }

    #[test]
    fn subjects_are_bounded() {
        let mut sayings = Sayings::default();
        for n in 0..SUBJECTS {
            assert!(sayings.say(offer(&n.to_string(), "x")));
        }
        assert!(!sayings.say(offer("one more", "x")));
        assert!(sayings.say(offer("0", "y")));
    }
}
