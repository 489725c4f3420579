use super::frame::read_head;
use super::read::{self, At, Object, Read};
use super::{
    Fault, FaultCode, FaultKind, Faults, FrameType, Job, JobFrame, JobId,
    Timestamp,
};
use serde_json::{Value, json};

/// What a dispatcher sends a node (`platform.job-frame@1`), its job not yet
/// judged: whose signature it bears and whether its id is known here come
/// before that.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    /// Not checked; the answer repeats it.
    pub seq: u64,
    /// When it was sent.
    pub ts: Timestamp,
    /// What is wanted.
    pub body: EnvelopeBody,
}

/// What a dispatcher wants.
#[derive(Clone, Debug, PartialEq)]
pub enum EnvelopeBody {
    /// Run this: an object, for [`Job::parse`].
    Job(Value),
    /// End this.
    Cancel(JobId),
    /// The exit came; say it no more.
    ExitAck(JobId),
}

/// Why a message is no envelope, and what of it an answer can repeat.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EnvelopeFault {
    /// The message's own, 0 where it could not be read.
    pub seq: u64,
    /// The id as it was sent, where it could be read.
    pub id: Option<String>,
    /// `bad_frame`; `bad_value` where only the id of a cancel or an
    /// acknowledgement is missing or malformed.
    pub code: FaultCode,
    /// What is wrong.
    pub message: String,
}

impl Envelope {
    /// The largest message, headers included. A little under the 1 MiB that
    /// NATS servers take by default.
    pub const MAX_BYTES: usize = 1_000_000;

    /// The envelope that a message holds.
    ///
    /// # Errors
    /// The answer to give: its code, the sentence, and the `seq` and id that
    /// could be read.
    pub fn parse(json: &[u8]) -> Result<Self, EnvelopeFault> {
        if json.len() > Self::MAX_BYTES {
            return Err(EnvelopeFault::too_large(json));
        }
        let mut frame = serde_json::from_slice(json).map_err(|err| {
            EnvelopeFault::of(&Value::Null, &read::not_json(err))
        })?;
        let head = read::value_with(&frame, read_envelope);
        let (seq, ts, wants) =
            head.map_err(|faults| EnvelopeFault::of(&frame, &faults))?;
        let body = match wants {
            Wants::Job => EnvelopeBody::Job(frame["job"].take()),
            Wants::Cancel(id) => EnvelopeBody::Cancel(id),
            Wants::ExitAck(id) => EnvelopeBody::ExitAck(id),
        };
        Ok(Self { seq, ts, body })
    }

    /// The message, for whoever dispatches.
    pub fn to_json(&self) -> Vec<u8> {
        let (seq, ts) = (self.seq, self.ts);
        let message = match &self.body {
            EnvelopeBody::Job(job) => json!({
                "v": 1, "seq": seq, "ts": ts, "type": FrameType::Job,
                "job": job,
            }),
            EnvelopeBody::Cancel(id) => json!({
                "v": 1, "seq": seq, "ts": ts, "type": FrameType::JobCancel,
                "id": id,
            }),
            EnvelopeBody::ExitAck(id) => json!({
                "v": 1, "seq": seq, "ts": ts, "type": FrameType::JobExitAck,
                "id": id,
            }),
        };
        read::to_json(&message, 0)
    }
}

impl EnvelopeFault {
    fn of(frame: &Value, faults: &Faults) -> Self {
        let of_id = |fault: &Fault| {
            fault.path == "/id" && fault.kind != FaultKind::UnknownKey
        };
        let only_id = faults.0.iter().all(of_id);
        let code =
            if only_id { FaultCode::BadValue } else { FaultCode::BadFrame };
        let message = faults.to_string();
        Self { seq: seq_of(frame), id: id_of(frame), code, message }
    }

    fn too_large(json: &[u8]) -> Self {
        let most = Envelope::MAX_BYTES;
        // What comes just over the limit is read to tell its sender which
        // message it was; twice the limit is more than a server of default
        // settings lets through.
        let readable = json.len() <= 2 * most;
        let frame = readable.then(|| serde_json::from_slice(json).ok());
        let frame = frame.flatten().unwrap_or(Value::Null);
        let size = json.len();
        let message =
            format!("a message has {most} bytes at most, and this {size}");
        let code = FaultCode::BadFrame;
        Self { seq: seq_of(&frame), id: id_of(&frame), code, message }
    }
}

/// The `seq` that an answer repeats, 0 where there is none.
fn seq_of(frame: &Value) -> u64 {
    let seq = frame.get("seq").unwrap_or(&Value::Null);
    read::value_with(seq, |at| at.count(0)).unwrap_or(0)
}

/// The id that an answer repeats: the job's, or that of what is cancelled or
/// acknowledged.
fn id_of(frame: &Value) -> Option<String> {
    let of_job = frame.get("job").and_then(|job| job.get("id"));
    let id = of_job.or_else(|| frame.get("id"))?;
    id.as_str().map(str::to_owned)
}

enum Wants {
    Job,
    Cancel(JobId),
    ExitAck(JobId),
}

fn read_envelope(at: At<'_>) -> Option<(u64, Timestamp, Wants)> {
    at.object(|frame| {
        let head = read_head(frame);
        let Some(of) = frame.need::<FrameType>("type") else {
            return frame.judge_no_more();
        };
        let wants = read_wants(of, frame, |at| at.map().map(|_| ()));
        let (seq, ts) = head?;
        Some((seq, ts, wants?))
    })
}

fn read_wants(
    of: FrameType,
    frame: &mut Object<'_>,
    read_job: impl FnOnce(At<'_>) -> Option<()>,
) -> Option<Wants> {
    match of {
        FrameType::Job => {
            frame.need_with("job", read_job)?;
            Some(Wants::Job)
        }
        FrameType::JobCancel => frame.need("id").map(Wants::Cancel),
        FrameType::JobExitAck => frame.need("id").map(Wants::ExitAck),
        FrameType::JobStarted
        | FrameType::JobStdout
        | FrameType::JobUsage
        | FrameType::JobExit => {
            let message = "is a node's frame".to_owned();
            frame.fault("type", FaultKind::Value, message);
            frame.judge_no_more()
        }
    }
}

/// Any frame of the contract, a job in it judged too; for validating only.
pub(super) struct AnyFrame;

impl Read for AnyFrame {
    fn read(at: At<'_>) -> Option<Self> {
        let of = at.value().get("type").and_then(Value::as_str);
        let of = of.and_then(FrameType::from_name);
        if of.is_some_and(|of| of.token().is_some()) {
            return JobFrame::read(at).map(|_| Self);
        }
        at.object(|frame| {
            let head = read_head(frame);
            let Some(of) = frame.need::<FrameType>("type") else {
                return frame.judge_no_more();
            };
            read_wants(of, frame, |at| Job::read(at).map(|_| ()))?;
            head.map(|_| Self)
        })
    }
}
