use super::{DispatcherId, JobId, NodeId, Token};

/// The subjects of one prefix on NATS. Every part is a checked token, so
/// no subject can be malformed or reach wider than its name.
#[derive(Clone, Debug)]
pub struct Subjects {
    prefix: Token,
}

/// What a node can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AskKind {
    /// The status document's public part.
    Status,
    /// The declared artifacts.
    Artifacts,
    /// Kept output of the asker's own jobs.
    Logs,
    /// Output files of the asker's own jobs.
    Outputs,
}

impl AskKind {
    /// Its token.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Artifacts => "artifacts",
            Self::Logs => "logs",
            Self::Outputs => "outputs",
        }
    }
}

/// Who may be the last token of nobody's dispatcher: the node itself.
pub const SELF: &str = "_self";

impl Subjects {
    /// The subjects under `prefix`.
    pub fn new(prefix: Token) -> Self {
        Self { prefix }
    }

    /// `P.node.<node>.in.<dispatcher>`.
    pub fn requests(&self, node: &NodeId, from: &DispatcherId) -> String {
        format!("{}.node.{node}.in.{from}", self.prefix)
    }

    /// `P.node.<node>.in.*`, what a node listens on.
    pub fn all_requests(&self, node: &NodeId) -> String {
        format!("{}.node.{node}.in.*", self.prefix)
    }

    /// `P.node.<node>.ask.<what>.<dispatcher>`.
    pub fn ask(&self, node: &NodeId, what: AskKind, from: &Token) -> String {
        let what = what.as_str();
        format!("{}.node.{node}.ask.{what}.{from}", self.prefix)
    }

    /// `P.node.<node>.ask.<what>.*`, what a node listens on.
    pub fn all_asks(&self, node: &NodeId, what: AskKind) -> String {
        format!("{}.node.{node}.ask.{}.*", self.prefix, what.as_str())
    }

    /// `P.job.<job>.<dispatcher>.<node>.<kind>`.
    pub fn job(
        &self,
        job: &JobId,
        of: &DispatcherId,
        node: &NodeId,
        kind: &str,
    ) -> String {
        format!("{}.job.{job}.{of}.{node}.{kind}", self.prefix)
    }

    /// `P.job.<job>.>`: one job's whole story.
    pub fn story(&self, job: &JobId) -> String {
        format!("{}.job.{job}.>", self.prefix)
    }

    /// `P.offer.<trust>.<kind>.<region>.<node>.<offer_id>` of those five;
    /// the caller knows each to be a token.
    pub(super) fn offer(&self, parts: [&str; 5]) -> String {
        format!("{}.offer.{}", self.prefix, parts.join("."))
    }

    /// Whether a subject under any prefix is that of an offer of those five.
    pub fn is_offer(subject: &str, parts: [&str; 5]) -> bool {
        let mut said = subject.split('.').skip(1); // the prefix is a token
        said.next() == Some("offer") && said.eq(parts)
    }

    /// `P.offer.>`: the fleet.
    pub fn all_offers(&self) -> String {
        format!("{}.offer.>", self.prefix)
    }
}
