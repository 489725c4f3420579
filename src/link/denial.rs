use std::collections::BTreeSet;

/// Subjects that are listed; a node publishes on a new one for each job, so
/// what is beyond these is only counted.
const LISTED: usize = 16;

/// What the server forbade in this session, by subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Denials {
    subjects: BTreeSet<String>,
    beyond: u64,
}

impl Denials {
    /// Notes one; true if it is news.
    pub(super) fn note(&mut self, denial: Denial) -> bool {
        let text = denial.to_string();
        if self.subjects.contains(&text) {
            return false;
        }
        if self.subjects.len() >= LISTED {
            self.beyond = self.beyond.saturating_add(1);
            return false;
        }
        self.subjects.insert(text)
    }

    /// The list for people; empty when nothing is forbidden.
    pub(super) fn list(&self) -> Vec<String> {
        let mut list: Vec<_> = self.subjects.iter().cloned().collect();
        if self.beyond > 0 {
            list.push(format!("and {} more", self.beyond));
        }
        list
    }

    /// Whether it is forbidden to listen on `subject`.
    pub(super) fn deafens(&self, subject: &str) -> bool {
        let subject = subject.to_owned();
        self.subjects.contains(&Denial::Subscribe(subject).to_string())
    }

    /// Whether it is forbidden to publish on `subject`.
    pub(super) fn silences(&self, subject: &str) -> bool {
        let subject = subject.to_owned();
        self.subjects.contains(&Denial::Publish(subject).to_string())
    }
}

/// One thing that the server forbids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Denial {
    /// To listen.
    Subscribe(String),
    /// To speak.
    Publish(String),
}

impl std::fmt::Display for Denial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Subscribe(subject) => write!(f, "subscribe to {subject}"),
            Self::Publish(subject) => write!(f, "publish to {subject}"),
        }
    }
}

/// Reads a server's error: `Permissions Violation for Subscription to "X"`
/// (with or without a queue group behind it) or `… for Publish to "X"`.
pub(super) fn read(error: &str) -> Option<Denial> {
    let rest =
        error.trim_matches('\'').strip_prefix("Permissions Violation")?;
    let subject = rest.split('"').nth(1)?.to_owned();
    if rest.starts_with(" for Subscription") {
        Some(Denial::Subscribe(subject))
    } else if rest.starts_with(" for Publish") {
        Some(Denial::Publish(subject))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subject_is_read_from_the_servers_own_words() {
        let text = r#"Permissions Violation for Subscription to "ov.a.in.*" using queue "a""#;
        assert_eq!(read(text), Some(Denial::Subscribe("ov.a.in.*".into())));
        let text = r#"Permissions Violation for Publish to "ov.offer.x""#;
        assert_eq!(read(text), Some(Denial::Publish("ov.offer.x".into())));
        assert_eq!(read("Stale Connection"), None);
    }

    #[test]
    fn each_subject_is_news_once_and_the_list_is_bounded() {
        let mut denials = Denials::default();
        assert!(denials.note(Denial::Publish("a".into())));
        assert!(!denials.note(Denial::Publish("a".into())));
        for n in 0..100 {
            denials.note(Denial::Publish(format!("job.{n}")));
        }
        let list = denials.list();
        assert_eq!(list.len(), LISTED + 1);
        assert_eq!(list.last().unwrap(), "and 85 more");
        assert!(denials.silences("a") && !denials.deafens("a"));
    }
}
