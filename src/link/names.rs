use super::config::LinkConfig;
use crate::contract::{AskKind, NodeId, SELF, Subjects, Token};

/// What a node can be asked, each on a subscription of its own.
pub(super) const ASKS: [AskKind; 4] =
    [AskKind::Status, AskKind::Artifacts, AskKind::Logs, AskKind::Outputs];

/// The subjects of one node.
#[derive(Clone, Debug)]
pub(super) struct Names {
    subjects: Subjects,
    node: NodeId,
    prefix: Token,
}

impl Names {
    pub(super) fn of(config: &LinkConfig) -> Self {
        Self {
            subjects: Subjects::new(config.prefix.clone()),
            node: config.node.clone(),
            prefix: config.prefix.clone(),
        }
    }

    /// Where requests come in.
    pub(super) fn requests(&self) -> String {
        self.subjects.all_requests(&self.node)
    }

    /// Where questions of one kind come in.
    pub(super) fn asks(&self, what: AskKind) -> String {
        self.subjects.all_asks(&self.node, what)
    }

    /// Where the node asks itself. Not in the queue group: every daemon that
    /// lives under this id hears it.
    pub(super) fn own(&self) -> String {
        let node = &self.node;
        format!("{}.node.{node}.ask.status.{SELF}", self.prefix)
    }

    /// Where an empty message proves that frames may be published.
    pub(super) fn probe(&self) -> String {
        format!("{}.job.probe.{SELF}.{}.nack", self.prefix, self.node)
    }

    /// Whether what is said on `subject` is believed for being said there:
    /// frames, offers, requests. An answer must never go to such a one, or a
    /// dispatcher could have us say for it what it may not say itself.
    pub(super) fn means_something(&self, subject: &str) -> bool {
        const KINDS: [&str; 5] = ["job", "node", "offer", "usage", "work"];
        let below = subject.strip_prefix(self.prefix.as_str());
        let below = below.and_then(|rest| rest.strip_prefix('.'));
        let kind = below.and_then(|rest| rest.split('.').next());
        kind.is_some_and(|kind| KINDS.contains(&kind))
    }

    /// The group in which the daemons of one id share what comes in.
    pub(super) fn group(&self) -> String {
        self.node.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_of_the_wire_is_told_from_an_inbox() {
        let token = |text: &str| Token::try_from(text.to_owned()).unwrap();
        let prefix = token("ov");
        let subjects = Subjects::new(prefix.clone());
        let names = Names { subjects, node: token("n1"), prefix };
        for wire in
            ["ov.job.j.bob.n1.exit", "ov.node.n1.in.bob", "ov.offer.a.b"]
        {
            assert!(names.means_something(wire), "{wire}");
        }
        for inbox in ["_INBOX.a.b", "ov.inbox.bob.1", "ovx.job.j", "ov"] {
            assert!(!names.means_something(inbox), "{inbox}");
        }
    }
}
