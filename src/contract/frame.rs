use super::read::{self, At, Object, Read, fields};
use super::words::words;
use super::{FaultKind, Faults, JobId, Timestamp};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;

/// What a node says about a job (`platform.job-frame@1`).
#[derive(Clone, Debug, PartialEq)]
pub struct JobFrame {
    /// Rises strictly over one job's frames from one node.
    pub seq: u64,
    /// When it was made.
    pub ts: Timestamp,
    /// The job.
    pub id: JobId,
    /// What happened.
    pub event: JobEvent,
}

/// What happened to a job.
#[derive(Clone, Debug, PartialEq)]
pub enum JobEvent {
    /// Its exec succeeded.
    Started {
        /// Wall time of the exec, computed once.
        started_ms: Timestamp,
    },
    /// A piece of its output.
    Stdout {
        /// From 1; numbers skipped are chunks lost.
        chunk_seq: u64,
        /// At most 16 KiB of valid UTF-8.
        chunk: String,
    },
    /// One second of job time was used.
    Usage {
        /// As in `Started`.
        started_ms: Timestamp,
        /// Which second, from 0.
        second: u64,
        /// CPU of that second; absent if not measured.
        cpu_ms: Option<u64>,
    },
    /// It ended.
    Exit(Exit),
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Exit {
    /// Who or what ended it.
    pub reason: ExitReason,
    /// Its exit code; `None` unless `exited` by itself.
    pub code: Option<i64>,
    /// What it wrote to fd 3; null unless `exited` with 0.
    pub result: Value,
    /// What it used.
    pub usage: Usage,
}

impl Exit {
    /// Whether it ended by itself, with 0.
    pub fn is_well(&self) -> bool {
        self.reason == ExitReason::Exited && self.code == Some(0)
    }
}

words! {
    /// Who or what ended a job.
    ExitReason {
        /// The program itself.
        Exited = "exited",
        /// Its dispatcher.
        Cancelled = "cancelled",
        /// Its time to live.
        Ttl = "ttl",
        /// One of its limits.
        Limit = "limit",
        /// The owner.
        Stopped = "stopped",
        /// The node could not run it, or lost it.
        Failed = "failed",
    }
}

/// What a job used in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Wall time of its exec; absent only if it never started, and then
    /// `wall_ms` is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<Timestamp>,
    /// Job time.
    pub wall_ms: u64,
    /// CPU of all its processes; absent if not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<u64>,
    /// Greatest memory of all its processes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mem_peak_bytes: Option<u64>,
}

words! {
    /// What a frame is about: the first three are a dispatcher's, the others
    /// a node's.
    FrameType {
        /// Run this.
        Job = "job",
        /// End this.
        JobCancel = "job_cancel",
        /// The exit came; say it no more.
        JobExitAck = "job_exit_ack",
        /// It runs.
        JobStarted = "job_started",
        /// It wrote this.
        JobStdout = "job_stdout",
        /// It used a second.
        JobUsage = "job_usage",
        /// It ended.
        JobExit = "job_exit",
    }
}

impl FrameType {
    /// The last token of the subject a node says it on; `None` for what a
    /// dispatcher says.
    pub fn token(self) -> Option<&'static str> {
        match self {
            Self::Job | Self::JobCancel | Self::JobExitAck => None,
            Self::JobStarted
            | Self::JobStdout
            | Self::JobUsage
            | Self::JobExit => self.as_str().strip_prefix("job_"),
        }
    }
}

impl JobEvent {
    /// The frame's type.
    pub fn frame_type(&self) -> FrameType {
        match self {
            Self::Started { .. } => FrameType::JobStarted,
            Self::Stdout { .. } => FrameType::JobStdout,
            Self::Usage { .. } => FrameType::JobUsage,
            Self::Exit(_) => FrameType::JobExit,
        }
    }
}

impl JobFrame {
    /// A frame that a node sent.
    ///
    /// # Errors
    /// All its faults; a dispatcher's frame is one too.
    pub fn parse(json: &[u8]) -> Result<Self, Faults> {
        read::text(json)
    }

    /// The frame as JSON. Written straight from the frame: a chunk of
    /// output is copied once, escapes and all.
    pub fn to_json(&self) -> Vec<u8> {
        let expected = match &self.event {
            JobEvent::Stdout { chunk, .. } => chunk.len(),
            JobEvent::Started { .. }
            | JobEvent::Usage { .. }
            | JobEvent::Exit(_) => 0,
        };
        read::to_json(self, expected)
    }
}

impl Serialize for JobFrame {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("v", &1)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("ts", &self.ts)?;
        map.serialize_entry("type", &self.event.frame_type())?;
        map.serialize_entry("id", &self.id)?;
        self.event.write(&mut map)?;
        map.end()
    }
}

impl JobEvent {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::Started { started_ms } => {
                map.serialize_entry("started_ms", started_ms)
            }
            Self::Stdout { chunk_seq, chunk } => {
                map.serialize_entry("chunk_seq", chunk_seq)?;
                map.serialize_entry("chunk", chunk)
            }
            Self::Usage { started_ms, second, cpu_ms } => {
                map.serialize_entry("started_ms", started_ms)?;
                map.serialize_entry("second", second)?;
                cpu_ms.map_or(Ok(()), |ms| map.serialize_entry("cpu_ms", &ms))
            }
            Self::Exit(exit) => {
                map.serialize_entry("reason", &exit.reason)?;
                map.serialize_entry("code", &exit.code)?;
                map.serialize_entry("result", &exit.result)?;
                map.serialize_entry("usage", &exit.usage)
            }
        }
    }

    /// Reads what a node's frame says beside its envelope.
    fn read(of: FrameType, frame: &mut Object<'_>) -> Option<Self> {
        match of {
            FrameType::JobStarted => {
                let started_ms = frame.need("started_ms")?;
                Some(Self::Started { started_ms })
            }
            FrameType::JobStdout => {
                let chunk_seq = frame.need_with("chunk_seq", |at| at.count(1));
                let chunk = frame.need_with("chunk", read_chunk);
                Some(Self::Stdout { chunk_seq: chunk_seq?, chunk: chunk? })
            }
            FrameType::JobUsage => {
                let started_ms = frame.need("started_ms");
                let second = frame.need("second");
                let cpu_ms = frame.may("cpu_ms");
                Some(Self::Usage {
                    started_ms: started_ms?,
                    second: second?,
                    cpu_ms: cpu_ms?,
                })
            }
            FrameType::JobExit => Exit::read(frame).map(Self::Exit),
            FrameType::Job | FrameType::JobCancel | FrameType::JobExitAck => {
                let message = "is a dispatcher's frame".to_owned();
                frame.fault("type", FaultKind::Value, message);
                frame.judge_no_more()
            }
        }
    }
}

fn read_chunk(at: At<'_>) -> Option<String> {
    // The contract's bound, in code points; this node sends far less.
    const MOST: usize = 65_536;
    let chunk = at.str()?;
    let short = chunk.len() <= MOST || chunk.chars().nth(MOST).is_none();
    if short {
        return Some(chunk.to_owned());
    }
    let message = format!("must have at most {MOST} characters");
    at.fault(FaultKind::Value, message);
    None
}

impl Exit {
    fn read(frame: &mut Object<'_>) -> Option<Self> {
        let reason = frame.need("reason");
        let code = frame.need_with("code", read_code);
        let result = frame.need_with("result", |at| Some(at.value().clone()));
        let usage = frame.need("usage");
        Some(Self {
            reason: reason?,
            code: code?,
            result: result?,
            usage: usage?,
        })
    }
}

/// An integer of any sign, saturated, or null.
fn read_code(at: At<'_>) -> Option<Option<i64>> {
    if at.value().is_null() {
        return Some(None);
    }
    let code = at.integer(i128::MIN)?;
    let greatest = if code < 0 { i64::MIN } else { i64::MAX };
    Some(Some(i64::try_from(code).unwrap_or(greatest)))
}

/// What all frames begin with: `seq` and `ts`.
pub(super) fn read_head(frame: &mut Object<'_>) -> Option<(u64, Timestamp)> {
    let version = frame.version();
    let seq = frame.need_with("seq", |at| at.count(1));
    let ts = frame.need("ts");
    version?;
    Some((seq?, ts?))
}

impl Read for JobFrame {
    fn read(at: At<'_>) -> Option<Self> {
        at.object(|frame| {
            let head = read_head(frame);
            let Some(of) = frame.need::<FrameType>("type") else {
                return frame.judge_no_more();
            };
            let id = frame.need("id");
            let event = JobEvent::read(of, frame);
            let (seq, ts) = head?;
            Some(Self { seq, ts, id: id?, event: event? })
        })
    }
}

impl Read for Usage {
    fn read(at: At<'_>) -> Option<Self> {
        let usage = fields!(at => Self {
            started_ms: may,
            wall_ms: need,
            cpu_ms: may,
            mem_peak_bytes: may,
        })?;
        if usage.wall_ms > 0 && usage.started_ms.is_none() {
            at.miss("started_ms");
            return None;
        }
        Some(usage)
    }
}
