use crate::contract::{DispatcherId, JobId, Now, Reason, Timestamp};
use bytes::Bytes as Payload;

/// What is written before a job is acknowledged.
#[derive(Clone, Debug, PartialEq)]
pub struct Admission {
    /// The job.
    pub id: JobId,
    /// Who sent it; nobody else may cancel or acknowledge it.
    pub dispatcher: DispatcherId,
    /// SHA-256 of the parsed job, hex: what a repeat is compared with.
    pub hash: String,
    /// When it was received, on all three clocks.
    pub received: Now,
}

/// The one `job_exit` of a job, byte for byte as every resend repeats it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredExit {
    /// The subject it is published on.
    pub subject: String,
    /// The frame.
    pub payload: Payload,
    /// Its `Ov-Reason` headers.
    pub reasons: Vec<Reason>,
    /// When the job ended, wall time.
    pub at: Timestamp,
}

/// What became of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum RowState {
    /// Promised, and not ended yet.
    Held,
    /// Ended; its dispatcher has not said that it knows.
    Ended(StoredExit),
    /// Its dispatcher knows. The exit is kept while there is room for it.
    Settled(Option<StoredExit>),
    /// Nobody ever acknowledged it, and the node stopped saying it.
    Unacked(Option<StoredExit>),
    /// Cancelled before it was ever seen: refused for good.
    Tombstone,
}

impl RowState {
    /// Whether nothing more is owed to anyone.
    pub fn is_settled(&self) -> bool {
        match self {
            Self::Settled(_) | Self::Unacked(_) | Self::Tombstone => true,
            Self::Held | Self::Ended(_) => false,
        }
    }

    /// For people.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Ended(_) => "ended",
            Self::Settled(_) => "settled",
            Self::Unacked(_) => "given up",
            Self::Tombstone => "a tombstone",
        }
    }

    /// The exit, where there is one and it is still kept.
    pub fn exit(&self) -> Option<&StoredExit> {
        match self {
            Self::Ended(exit) => Some(exit),
            Self::Settled(exit) | Self::Unacked(exit) => exit.as_ref(),
            Self::Held | Self::Tombstone => None,
        }
    }
}

/// One job, from its admission to its settlement.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Who sent it. Of a tombstone: who cancelled it.
    pub dispatcher: DispatcherId,
    /// Hash of the parsed job; empty in a tombstone.
    pub hash: String,
    /// When the row was made.
    pub received: Now,
    /// What became of it.
    pub state: RowState,
}

/// How many rows there are of each kind, for the status document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Promised, not ended.
    pub held: usize,
    /// Ended, not acknowledged.
    pub unacknowledged: usize,
    /// Given up after a week without an acknowledgement.
    pub unacked: usize,
    /// Settled and still remembered, tombstones included.
    pub settled: usize,
}

impl Counts {
    /// The count to which a row of this state belongs.
    pub(super) fn of(&mut self, state: &RowState) -> &mut usize {
        match state {
            RowState::Held => &mut self.held,
            RowState::Ended(_) => &mut self.unacknowledged,
            RowState::Unacked(_) => &mut self.unacked,
            RowState::Settled(_) | RowState::Tombstone => &mut self.settled,
        }
    }

    /// Rows of which nothing more is owed to anyone: those that may be
    /// forgotten.
    pub(super) fn done(&self) -> usize {
        self.settled + self.unacked
    }
}
