use super::read::{At, Read, document};
use super::words::words;
use super::{JobId, Timestamp};
use serde::ser::{Serialize, SerializeMap, Serializer};

words! {
    /// Why a request is refused (`platform.job-answer@1`).
    FaultCode {
        /// Not from one who may.
        NotAllowed = "not_allowed",
        /// Not a frame of the contract.
        BadFrame = "bad_frame",
        /// A frame with a value that is not allowed.
        BadValue = "bad_value",
        /// Well formed, and nothing this node can do.
        Unsupported = "unsupported",
        /// This node could, but not now.
        NotReady = "not_ready",
        /// The owner said stop.
        LocalStop = "local_stop",
        /// The node is going away.
        ShuttingDown = "shutting_down",
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
        id: JobId,
    },
    /// Refused.
    Nack {
        /// The request's own, 0 where it could not be read.
        seq: u64,
        /// When it was answered.
        ts: Timestamp,
        /// The job's id as it was sent, where there was one.
        id: Option<String>,
        /// What kind of refusal it is.
        code: FaultCode,
        /// A sentence with numbers: wanted, free, which limit.
        message: String,
    },
}

document!(Answer);

words! {
    /// Which of the two an answer is.
    AnswerType {
        /// Taken.
        Ack = "ack",
        /// Refused.
        Nack = "nack",
    }
}

impl Read for Answer {
    fn read(at: At<'_>) -> Option<Self> {
        at.object(|object| {
            object.version();
            let (seq, ts) = (object.need("seq"), object.need("ts"));
            match object.need("type") {
                Some(AnswerType::Ack) => {
                    let id = object.need("id");
                    Some(Self::Ack { seq: seq?, ts: ts?, id: id? })
                }
                Some(AnswerType::Nack) => {
                    let id = object.may("id");
                    let code = object.need("fault_code");
                    let message = object.need("message");
                    Some(Self::Nack {
                        seq: seq?,
                        ts: ts?,
                        id: id?,
                        code: code?,
                        message: message?,
                    })
                }
                None => object.judge_no_more(),
            }
        })
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("v", &1)?;
        match self {
            Self::Ack { seq, ts, id } => {
                map.serialize_entry("seq", seq)?;
                map.serialize_entry("ts", ts)?;
                map.serialize_entry("type", &AnswerType::Ack)?;
                map.serialize_entry("id", id)?;
            }
            Self::Nack { seq, ts, id, code, message } => {
                map.serialize_entry("seq", seq)?;
                map.serialize_entry("ts", ts)?;
                map.serialize_entry("type", &AnswerType::Nack)?;
                if let Some(id) = id {
                    map.serialize_entry("id", id)?;
                }
                map.serialize_entry("fault_code", code)?;
                map.serialize_entry("message", message)?;
            }
        }
        map.end()
    }
}
