use crate::contract::{
    Bytes, DispatcherId, FaultCode, Job, JobId, Reason, ReasonCode,
    RuntimeClass, Timestamp,
};
use crate::job::{ArtifactPlan, ClassPlan, JobPlan};
use crate::ledger::Row;
use std::collections::BTreeMap;

/// The longest id that an answer repeats: a job's has 30 bytes, and a
/// dispatcher that sends a megabyte in its place knows what it sent.
const ID_BYTES: usize = 64;
/// The longest sentence of a refusal. Refusals are kept and shown, and an
/// answer larger than the server takes would be none.
const MESSAGE_BYTES: usize = 1000;

/// Whether the node takes jobs at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Not ready yet: classes are being probed.
    #[default]
    Starting,
    /// It takes jobs.
    Open,
    /// The owner paused it.
    Paused,
    /// The owner's stop latch is set.
    Latched,
    /// The operator drains it.
    Draining,
    /// It is going away.
    Stopping,
}

impl Standing {
    /// Why it takes no job, whatever the job is; `None` where that is left to
    /// its classes.
    pub(crate) fn shut(self) -> Option<(FaultCode, Reason)> {
        use FaultCode::{LocalStop, ShuttingDown};
        let (code, reason, said) = match self {
            Self::Starting | Self::Open => return None,
            Self::Paused => {
                (LocalStop, ReasonCode::Paused, "the owner paused this node")
            }
            Self::Latched => {
                (LocalStop, ReasonCode::Latched, "the owner stopped this node")
            }
            Self::Draining => {
                (ShuttingDown, ReasonCode::Draining, "this node is draining")
            }
            Self::Stopping => {
                (ShuttingDown, ReasonCode::Stopping, "this node is going away")
            }
        };
        Some((code, Reason::new(reason, said)))
    }
}

/// One class, now.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClassStanding {
    /// Why it is withdrawn, if it is.
    pub(crate) withdrawn: Option<Reason>,
    /// How many jobs of it could start now.
    pub(crate) free: u32,
}

/// What else the node must have room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    /// Memory that a further job could have; `None` where it is not known.
    pub(crate) memory: Option<Bytes>,
    /// Users that are free.
    pub(crate) users: usize,
    /// Ended jobs whose last words still wait for the link.
    pub(crate) unsent: usize,
    /// How many of them there may be.
    pub(crate) unsent_most: usize,
}

/// What the ledger knows of an id.
pub(crate) type Lookup<'a> = &'a dyn Fn(&JobId) -> Option<Row>;

/// The node, as far as admission asks.
pub(crate) struct NodeView<'a> {
    /// What the owner lets jobs have.
    pub(crate) plan: &'a JobPlan,
    /// Whether it takes jobs at all.
    pub(crate) standing: Standing,
    /// Each configured class.
    pub(crate) classes: &'a BTreeMap<RuntimeClass, ClassStanding>,
    /// What else must be free.
    pub(crate) room: Room,
    /// What the ledger knows of an id.
    pub(crate) lookup: Lookup<'a>,
    /// Ids made up to here are refused.
    pub(crate) floor: Timestamp,
}

/// One frame of type `job`, as it came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceivedFrame<'a> {
    /// From the subject.
    pub(crate) dispatcher: &'a DispatcherId,
    /// The frame, unparsed.
    pub(crate) payload: &'a [u8],
    /// With headers.
    pub(crate) size: usize,
}

/// What becomes of a frame of type `job`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// A new job for which there is room: take it.
    Admit(Box<Admitted>),
    /// It is here already.
    Held { seq: u64, id: JobId },
    /// It was here and ended: say so again.
    Ended { seq: u64, id: JobId },
    /// It is not taken.
    Refuse(Refusal),
}

/// A job that fits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Admitted {
    /// For the answer.
    pub(crate) seq: u64,
    /// The job.
    pub(crate) job: Job,
    /// What it runs.
    pub(crate) artifact: ArtifactPlan,
    /// In what.
    pub(crate) class: ClassPlan,
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    /// Of the request, 0 where it could not be read.
    pub(crate) seq: u64,
    /// As it was sent, where it could be read.
    pub(crate) id: Option<String>,
    /// Which kind of refusal.
    pub(crate) code: FaultCode,
    /// A sentence with numbers.
    pub(crate) message: String,
    /// What has no field in an answer.
    pub(crate) reasons: Vec<Reason>,
}

/// What an answer repeats of a request.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) seq: u64,
    pub(super) id: Option<String>,
}

impl Asked {
    pub(super) fn refuse(
        &self,
        code: FaultCode,
        message: impl Into<String>,
    ) -> Refusal {
        let mut message: String = message.into();
        if message.len() > MESSAGE_BYTES {
            message.truncate(message.floor_char_boundary(MESSAGE_BYTES));
            message.push('…');
        }
        Refusal {
            seq: self.seq,
            id: self.id.clone().filter(|id| id.len() <= ID_BYTES),
            code,
            message,
            reasons: Vec::new(),
        }
    }
}
