use super::Timestamp;

/// Why a request is refused (`platform.job-answer@1`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultCode {
    /// Not from one who may.
    NotAllowed,
    /// Not a frame of the contract.
    BadFrame,
    /// A frame with a value that is not allowed.
    BadValue,
    /// Well formed, and nothing this node can do.
    Unsupported,
    /// This node could, but not now.
    NotReady,
    /// The owner said stop.
    LocalStop,
    /// The node is going away.
    ShuttingDown,
}

impl FaultCode {
    /// The contract's own word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotAllowed => "not_allowed",
            Self::BadFrame => "bad_frame",
            Self::BadValue => "bad_value",
            Self::Unsupported => "unsupported",
            Self::NotReady => "not_ready",
            Self::LocalStop => "local_stop",
            Self::ShuttingDown => "shutting_down",
        }
    }
}

/// The answer to a request on `P.node.<node>.in.<dispatcher>`.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Taken.
    Ack {
        /// The request's own.
        seq: u64,
        /// When it was answered.
        ts: Timestamp,
        /// The job.
        id: String,
    },
    /// Refused.
    Nack {
        /// The request's own, 0 where it could not be read.
        seq: u64,
        /// When it was answered.
        ts: Timestamp,
        /// The job's id as it was sent, where there was one.
        id: Option<String>,
        /// Which row of DESIGN §2 refused it.
        code: FaultCode,
        /// A sentence with numbers: wanted, free, which limit.
        message: String,
    },
}
