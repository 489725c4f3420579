use crate::contract::{Bytes, MilliCores, NodeId, RuntimeClass};
use std::path::PathBuf;

/// A sandbox's own name, `sb_<ULID>`: its container's and its record's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SandboxId(pub String);

impl SandboxId {
    /// The name of its container.
    pub fn container(&self) -> String {
        format!("ovnode-{}", self.0)
    }

    /// Whether it can be one component of a path and of a container's name.
    pub(super) fn is_plain(&self) -> bool {
        let sized = (1..=64).contains(&self.0.len());
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        sized && self.0.bytes().all(plain)
    }
}

/// Labels of our containers. An image's labels become its containers' too,
/// which is why no image of ours carries one of this prefix.
pub(super) mod labels {
    /// Before each of ours.
    pub(in crate::engine) const PREFIX: &str = "ovnode.";
    /// Whose it is.
    pub(in crate::engine) const NODE: &str = "ovnode.node";
    /// Which sandbox.
    pub(in crate::engine) const SANDBOX: &str = "ovnode.sandbox";
    /// Which class.
    pub(in crate::engine) const CLASS: &str = "ovnode.class";
}

/// Everything a sandbox is made of; nothing else reaches the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchSpec {
    /// Its name.
    pub sandbox: SandboxId,
    /// Whose it is (a label).
    pub node: NodeId,
    /// Its kind (a label).
    pub class: RuntimeClass,
    /// The image, by the engine's id.
    pub image: String,
    /// Where the static init binary lies on the host.
    pub init: PathBuf,
    /// Its record on the host, mounted at `init::names::MOUNT`.
    pub record: PathBuf,
    /// Host directories, read-only: the artifact's.
    pub binds: Vec<Bind>,
    /// `/job`, `/tmp` and volumes of the image that must be covered.
    pub tmpfs: Vec<Tmpfs>,
    /// The job's user and group, for files that are made for it.
    pub uid: u32,
    /// Memory of the whole container, PID 1's reserve included; no swap.
    pub memory: Bytes,
    /// `/dev/shm`.
    pub shm: Bytes,
    /// Share of the machine.
    pub cpu: MilliCores,
    /// Processes and threads, PID 1 included.
    pub pids: u32,
    /// The seccomp profile, as JSON.
    pub seccomp: String,
}

/// A host directory, read-only in the sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bind {
    /// On the host.
    pub host: PathBuf,
    /// In the sandbox.
    pub inside: String,
}

/// Memory mounted as a filesystem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tmpfs {
    /// Where.
    pub inside: String,
    /// At most.
    pub size: Bytes,
    /// Files and directories, at most.
    pub inodes: u64,
    /// Whether what lies there may be executed.
    pub exec: bool,
}
