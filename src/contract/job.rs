use super::{ArtifactRef, Bytes, JobId, RuntimeClass};
use serde_json::{Map, Value};
use std::time::Duration;

/// A job (`platform.job@1`): run at most once.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name in `/job/in`.
    pub name: String,
    /// `med_<ULID>`.
    pub media_id: String,
    /// Lower-case hex.
    pub sha256: String,
    /// Its size, where the dispatcher says it.
    pub size: Option<Bytes>,
}
