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

    /// The group in which the daemons of one id share what comes in.
    pub(super) fn group(&self) -> String {
        self.node.to_string()
    }
}
