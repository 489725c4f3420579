use super::{LaunchSpec, SandboxId};
use crate::contract::NodeId;
use std::future::Future;

/// A `Send` future of this room's result.
pub trait Reply<T>: Future<Output = Result<T, EngineError>> + Send {}
impl<T, F> Reply<T> for F where
    F: Future<Output = Result<T, EngineError>> + Send
{
}

/// The engine's own id of a container.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContainerId(pub String);

/// What a node asks of a container engine, and nothing more. Every call has
/// a deadline of its own; none is repeated behind the caller's back.
pub trait Engine: Send + Sync + 'static {
    /// Version, cgroup version, data root, security options.
    fn info(&self) -> impl Reply<EngineInfo>;
    /// What is known of an image; `None` if it is not there.
    fn image(&self, reference: &str) -> impl Reply<Option<ImageFacts>>;
    /// Makes a container of exactly this spec.
    fn create(&self, spec: &LaunchSpec) -> impl Reply<ContainerId>;
    /// Starts it.
    fn start(&self, id: &ContainerId) -> impl Reply<()>;
    /// What the engine says it is; `None` if it is not there.
    fn inspect(&self, id: &ContainerId) -> impl Reply<Option<Inspection>>;
    /// Waits for its end: its exit code. Ends with an error, never with a
    /// guess, when the engine goes away.
    fn wait(&self, id: &ContainerId) -> impl Reply<i64>;
    /// KILL to all of it; fine if it is not running.
    fn kill(&self, id: &ContainerId) -> impl Reply<()>;
    /// Removes it; fine if it is not there.
    fn remove(&self, id: &ContainerId) -> impl Reply<()>;
    /// Containers with this node's label, running or not.
    fn own(&self, node: &NodeId) -> impl Reply<Vec<OwnContainer>>;
}

/// What went wrong with a call to the engine.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// It does not answer: what became of the call is not known.
    #[error("the container engine at `{socket}` does not answer ({doing})")]
    Away {
        /// Its socket.
        socket: String,
        /// What we were doing, as "creating a container".
        doing: &'static str,
        /// Why.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// It answered no.
    #[error("the container engine refused {doing}: {message} ({status})")]
    Refused {
        /// What we were doing, as "creating a container".
        doing: &'static str,
        /// HTTP status.
        status: u16,
        /// Its own words.
        message: String,
    },
    /// A sandbox is not what was asked for.
    #[error("the sandbox is not what was asked for: {0}")]
    NotAsAsked(String),
    /// Something on this machine's own disk.
    #[error("cannot {doing} `{path}`")]
    Host {
        /// Such as "write".
        doing: &'static str,
        /// Which file.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// What the engine says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineInfo {
    /// Its version, as "20.10.24".
    pub version: String,
    /// The API version agreed on, as "1.41".
    pub api: String,
    /// 1 or 2.
    pub cgroup_version: u8,
    /// `cgroupfs` or `systemd`.
    pub cgroup_driver: String,
    /// Where its data lies.
    pub data_root: std::path::PathBuf,
    /// Its security options, as "name=seccomp,profile=default".
    pub security: Vec<String>,
}

/// What is known of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFacts {
    /// The engine's id of it (`sha256:…`), opaque.
    pub id: String,
    /// Volumes it declares.
    pub volumes: Vec<String>,
    /// Its environment, as `NAME=value`.
    pub env: Vec<String>,
    /// As `amd64`.
    pub architecture: String,
    /// Unix milliseconds.
    pub created_ms: Option<u64>,
    /// On disk.
    pub size_bytes: u64,
}

/// What the engine says a container is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// Of its PID 1, on the host; `None` when it does not run.
    pub pid: Option<u32>,
    /// Whether it runs.
    pub running: bool,
    /// Its exit code, once it ran and ended.
    pub exit_code: Option<i64>,
    /// The engine's own flag, which is not proof.
    pub oom_killed: bool,
    /// What the engine complains of.
    pub error: Option<String>,
    /// The parts of a spec that the engine applied, as sorted `name=value`
    /// lines, to be compared with those of the spec.
    pub applied: Vec<String>,
}

/// A container of this node's, found by its labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnContainer {
    /// The engine's id.
    pub id: ContainerId,
    /// From its label.
    pub sandbox: SandboxId,
    /// Whether it runs.
    pub running: bool,
    /// Unix seconds of its making.
    pub created_s: u64,
}
