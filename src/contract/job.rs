use super::canonical::{canonical, same};
use super::read::{self, At, Object, Read, fields};
use super::{
    ArtifactRef, Bytes, FaultKind, Faults, InputName, JobId, MediaId,
    RuntimeClass, Sha256Hex,
};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::time::Duration;

/// A job (`platform.job@1`): run at most once.
///
/// Two jobs are equal if they ask for the same, however they were written:
/// `args` are compared as JSON (1 and 1.0 are one number), and an absent
/// `net` is `deny`.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its id, and the moment it was made.
    pub id: JobId,
    /// The kind of sandbox it wants.
    pub class: RuntimeClass,
    /// What it runs; always there for `function` and `code`.
    pub artifact: Option<ArtifactRef>,
    /// Handed to the job on its standard input as one line of JSON.
    pub args: Map<String, Value>,
    /// From receipt (or its time stamp in the queue) on CLOCK_BOOTTIME.
    pub ttl: Duration,
    /// What it may use.
    pub limits: Limits,
    /// How far it wants to reach.
    pub net: NetPolicy,
    /// Files it wants staged.
    pub inputs: Vec<Input>,
}

/// A job's own limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Job time from its exec, CLOCK_MONOTONIC.
    pub wall: Duration,
    /// CPU time of all its processes together.
    pub cpu: Duration,
    /// Memory of all its processes together, scratch included.
    pub memory: Bytes,
}

/// How far a job may reach; each includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetPolicy {
    /// No network at all (`deny`, `none`, or absent).
    #[default]
    Deny,
    /// The owner's names and ranges only.
    OpenvibeOnly,
    /// The public internet.
    Public,
}

/// One input file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Input {
    /// Its name in `/job/in`.
    pub name: InputName,
    /// Where it is fetched.
    pub media_id: MediaId,
    /// What it must hold.
    pub sha256: Sha256Hex,
    /// Its size, where the dispatcher says it.
    #[serde(rename = "size_bytes", skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
}

impl Job {
    /// The job that a frame's `job` holds.
    ///
    /// # Errors
    /// All its faults. A fault's kind and path say which answer it gets.
    pub fn parse(job: &Value) -> Result<Self, Faults> {
        read::value(job)
    }

    /// The job as a document.
    pub fn to_value(&self) -> Value {
        let mut job = json!({
            "id": self.id,
            "class": self.class,
            "args": self.args,
            "ttl_ms": milliseconds(self.ttl),
            "limits": {
                "wall_ms": milliseconds(self.limits.wall),
                "cpu_ms": milliseconds(self.limits.cpu),
                "mem_bytes": self.limits.memory,
            },
        });
        if let Some(artifact) = &self.artifact {
            job["artifact"] = json!(artifact);
        }
        if self.net != NetPolicy::Deny {
            job["net"] = json!(self.net);
        }
        if !self.inputs.is_empty() {
            job["inputs"] = json!(self.inputs);
        }
        job
    }

    /// The job as JSON.
    pub fn to_json(&self) -> Vec<u8> {
        read::to_json(&self.to_value(), 0)
    }

    /// SHA-256 in hex of what the job asks for: the same for equal jobs, on
    /// every machine and in every version.
    pub fn hash(&self) -> String {
        let json = canonical(&self.to_value());
        let digest = Sha256::digest(json.as_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        same(&self.to_value(), &other.to_value())
    }
}

impl Read for Job {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            id: need,
            class: need,
            artifact: also (read_artifact),
            args: need_with (|at| at.map().cloned()),
            ttl: need_with "ttl_ms" (span),
            limits: need_with (Limits::read),
            net: also (|job, key| Some(job.may(key)?.unwrap_or_default())),
            inputs: also (read_inputs),
        })
    }
}

/// An artifact is for any class, and never left out for these two.
fn read_artifact(
    job: &mut Object<'_>,
    key: &'static str,
) -> Option<Option<ArtifactRef>> {
    let class = job.text("class");
    let needed = [RuntimeClass::Function, RuntimeClass::Code]
        .into_iter()
        .any(|wants| class == Some(wants.as_str()));
    if needed { job.need(key).map(Some) } else { job.may(key) }
}

fn read_inputs(job: &mut Object<'_>, key: &'static str) -> Option<Vec<Input>> {
    const MOST: usize = 32;
    let inputs: Vec<_> = job.may(key)?.unwrap_or_default();
    if inputs.len() <= MOST {
        return Some(inputs);
    }
    let message =
        format!("must hold at most {MOST} items, and has {}", inputs.len());
    job.fault(key, FaultKind::Value, message);
    None
}

impl Limits {
    /// Reads the three limits.
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            wall: need_with "wall_ms" (span),
            cpu: need_with "cpu_ms" (span),
            memory: need_with "mem_bytes" (|at| at.count(1).map(Bytes)),
        })
    }
}

/// A time of 1 ms or more.
fn span(at: At<'_>) -> Option<Duration> {
    at.count(1).map(Duration::from_millis)
}

/// As the contract says a time: whole milliseconds, 1 at least.
fn milliseconds(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX).max(1)
}

impl NetPolicy {
    /// The contract's own word; `deny` rather than its synonym `none`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::OpenvibeOnly => "openvibe-only",
            Self::Public => "public",
        }
    }

    /// The policy of that name; `None` for any other text.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "deny" | "none" => Some(Self::Deny),
            "openvibe-only" => Some(Self::OpenvibeOnly),
            "public" => Some(Self::Public),
            _ => None,
        }
    }
}

impl Serialize for NetPolicy {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl Read for NetPolicy {
    fn read(at: At<'_>) -> Option<Self> {
        const WORDS: [&str; 4] = ["deny", "none", "public", "openvibe-only"];
        at.word(&WORDS, Self::from_name)
    }
}

impl Read for Input {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            name: need,
            media_id: need,
            sha256: need,
            size: may "size_bytes",
        })
    }
}
