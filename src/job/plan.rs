use crate::contract::{
    ArtifactRef, Bytes, MilliCores, NetPolicy, RuntimeClass,
};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// What the owner lets jobs have: parsed from the config, never changed.
#[derive(Clone, Debug, PartialEq)]
pub struct JobPlan {
    /// Classes configured here.
    pub classes: BTreeMap<RuntimeClass, ClassPlan>,
    /// Artifacts declared here.
    pub artifacts: Vec<ArtifactPlan>,
    /// How far a job may reach at most.
    pub net: NetPolicy,
    /// Between TERM and KILL (5 s).
    pub cancel_grace: Duration,
    /// Users of jobs: the first, and how many.
    pub uids: std::ops::Range<u32>,
    /// Where the static init binary lies.
    pub init: PathBuf,
    /// Where records lie: `/var/lib/ovnode/records`.
    pub records: PathBuf,
}

/// One class of this node.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassPlan {
    /// Its image's reference.
    pub image: String,
    /// How many jobs at once.
    pub slots: u32,
    /// What one of them has of the machine.
    pub cpu: MilliCores,
    /// Greatest `mem_bytes`; what one slot promises.
    pub memory: Bytes,
    /// Processes and threads (128).
    pub pids: u32,
    /// `/job`, part of the memory.
    pub scratch: Bytes,
    /// `/dev/shm`, part of the memory.
    pub shm: Bytes,
    /// The owner's caps.
    pub caps: Caps,
}

/// Limits above which a job is refused, or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Greatest wall limit.
    pub wall: Duration,
    /// Greatest CPU limit.
    pub cpu: Duration,
    /// Greatest time to live.
    pub ttl: Duration,
    /// Bytes of stdout a job (64 MiB).
    pub output: Bytes,
    /// Bytes on fd 3 (256 KiB).
    pub result: Bytes,
    /// RLIMIT_NOFILE.
    pub open_files: u64,
}

/// One declared artifact.
#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactPlan {
    /// Name and exact version.
    pub id: ArtifactRef,
    /// For which class.
    pub class: RuntimeClass,
    /// Where it comes from.
    pub source: ArtifactSource,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Added to the job's environment.
    pub env: BTreeMap<String, String>,
    /// Whether stderr is streamed rather than the owner's.
    pub stream_stderr: bool,
}

/// Where an artifact comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum ArtifactSource {
    /// An image of the owner's, by reference.
    Image(String),
    /// A directory of the owner's, bound read-only at `/artifact` into the
    /// class's image.
    Directory(PathBuf),
}
