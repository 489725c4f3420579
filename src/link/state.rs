use crate::contract::Timestamp;
use std::fmt;

/// How the link is. `Display` is the sentence that status shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkState {
    /// No connection was made yet.
    Connecting {
        /// Since when.
        since: Timestamp,
        /// Attempts that failed.
        attempts: u64,
        /// Why the last one did.
        why: Option<String>,
    },
    /// Up, proven and serving.
    Connected {
        /// Since when.
        since: Timestamp,
        /// To which server.
        server: String,
        /// Counts connections: whoever resends after each watches it.
        session: u64,
    },
    /// Up, but the server forbids something that a node needs.
    Denied {
        /// Since when.
        since: Timestamp,
        /// By which server.
        server: String,
        /// As in `Connected`.
        session: u64,
        /// What is forbidden, as `publish to X` and `subscribe to X`.
        denied: Vec<String>,
        /// Whether requests can still come in.
        serving: bool,
    },
    /// The server does not take our credentials, or we cannot read them.
    Refused {
        /// Since when.
        since: Timestamp,
        /// Which credentials, and why.
        why: String,
    },
    /// Connected, yet our own messages did not come back.
    Deaf {
        /// Since when.
        since: Timestamp,
    },
    /// The connection broke and no new one was made yet.
    Disconnected {
        /// Since when.
        since: Timestamp,
        /// Attempts that failed since.
        attempts: u64,
        /// Why it broke, or why the last attempt failed.
        why: String,
    },
    /// Another daemon lives under this node's id and was there first: this
    /// one takes no jobs and makes no offers.
    Yielded {
        /// Since when.
        since: Timestamp,
        /// The other's instance.
        rival: String,
    },
    /// The daemon is ending.
    Ended,
}

impl LinkState {
    /// Whether requests can come in and offers may be made.
    pub fn serving(&self) -> bool {
        match self {
            Self::Connected { .. } => true,
            Self::Denied { serving, .. } => *serving,
            Self::Connecting { .. }
            | Self::Refused { .. }
            | Self::Deaf { .. }
            | Self::Disconnected { .. }
            | Self::Yielded { .. }
            | Self::Ended => false,
        }
    }

    /// The number of the connection that serves now. A greater number than
    /// the last one seen means that the link was away in between.
    pub fn session(&self) -> Option<u64> {
        match self {
            Self::Connected { session, .. } | Self::Denied { session, .. } => {
                Some(*session)
            }
            Self::Connecting { .. }
            | Self::Refused { .. }
            | Self::Deaf { .. }
            | Self::Disconnected { .. }
            | Self::Yielded { .. }
            | Self::Ended => None,
        }
    }

    /// The state in a word, for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Connecting { .. } => "connecting",
            Self::Connected { .. } => "connected",
            Self::Denied { .. } => "denied",
            Self::Refused { .. } => "refused",
            Self::Deaf { .. } => "deaf",
            Self::Disconnected { .. } => "disconnected",
            Self::Yielded { .. } => "yielded",
            Self::Ended => "ended",
        }
    }

    /// Since when it is so; `None` at the end.
    pub fn since(&self) -> Option<Timestamp> {
        match self {
            Self::Connecting { since, .. }
            | Self::Connected { since, .. }
            | Self::Denied { since, .. }
            | Self::Refused { since, .. }
            | Self::Deaf { since }
            | Self::Disconnected { since, .. }
            | Self::Yielded { since, .. } => Some(*since),
            Self::Ended => None,
        }
    }

    /// The state after one more failed attempt to connect at `now`; `since`
    /// stays when it began.
    pub(super) fn after_failure(&self, why: String, now: Timestamp) -> Self {
        match self {
            Self::Connecting { since, attempts, .. } => Self::Connecting {
                since: *since,
                attempts: attempts.saturating_add(1),
                why: Some(why),
            },
            Self::Disconnected { since, attempts, .. } => Self::Disconnected {
                since: *since,
                attempts: attempts.saturating_add(1),
                why,
            },
            Self::Deaf { .. }
            | Self::Refused { .. }
            | Self::Connected { .. }
            | Self::Denied { .. }
            | Self::Yielded { .. }
            | Self::Ended => {
                Self::Disconnected { since: now, attempts: 1, why }
            }
        }
    }

    /// The state after the credentials were refused at `now`.
    pub(super) fn after_refusal(&self, why: String, now: Timestamp) -> Self {
        let since = match self {
            Self::Refused { since, .. } => *since,
            Self::Connecting { .. }
            | Self::Connected { .. }
            | Self::Denied { .. }
            | Self::Deaf { .. }
            | Self::Disconnected { .. }
            | Self::Yielded { .. }
            | Self::Ended => now,
        };
        Self::Refused { since, why }
    }
}

impl fmt::Display for LinkState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connecting { attempts: 0, .. } => f.write_str("connecting"),
            Self::Connecting { attempts, why, .. } => {
                let why = why.as_deref().unwrap_or("no answer");
                write!(f, "connecting ({attempts} attempts failed: {why})")
            }
            Self::Connected { server, .. } => {
                write!(f, "connected to {server}")
            }
            Self::Denied { server, denied, .. } => {
                let what = denied.join(", ");
                write!(f, "connected to {server}, which forbids to {what}")
            }
            Self::Refused { why, .. } => f.write_str(why),
            Self::Deaf { .. } => {
                f.write_str("deaf: our own messages do not come back")
            }
            Self::Disconnected { attempts, why, .. } => {
                write!(f, "disconnected ({attempts} attempts failed: {why})")
            }
            Self::Yielded { rival, .. } => write!(
                f,
                "another daemon (instance {rival}) lives under this node's \
                 id and was there first: give one of the two an id of its own"
            ),
            Self::Ended => f.write_str("ended"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_stays_where_it_began_over_failed_attempts() {
        let first = LinkState::Connecting {
            since: Timestamp(1),
            attempts: 0,
            why: None,
        };
        let later = first
            .after_failure("refused".into(), Timestamp(5))
            .after_failure("refused".into(), Timestamp(9));
        assert_eq!(later.since(), Some(Timestamp(1)));
        assert_eq!(
            later.to_string(),
            "connecting (2 attempts failed: refused)"
        );
    }

    #[test]
    fn only_a_link_that_can_be_reached_serves() {
        let denied = |serving| LinkState::Denied {
            since: Timestamp(1),
            server: "s".into(),
            session: 3,
            denied: vec!["publish to x".into()],
            serving,
        };
        assert!(denied(true).serving());
        assert!(!denied(false).serving());
        assert_eq!(denied(false).session(), Some(3));
        assert!(!LinkState::Deaf { since: Timestamp(1) }.serving());
    }
}
