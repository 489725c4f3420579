//! Containers, behind one narrow trait.
//!
//! Launch specs are pure values and snapshot-tested; what the engine made of
//! them is read back and compared before a job may start, since an engine
//! ignores what it does not know.
mod api; // the trait, its answers and its errors
mod applied; // what the engine shows of a container
mod body; // a spec as the engine is asked for it
pub mod cgroup; // a sandbox's accounts, from the kernel
mod connect; // one socket, a version agreed on, deadlines
mod docker; // the trait over a Docker engine
#[cfg(feature = "fakes")]
pub mod fake; // an engine that does what a test says
pub mod identity; // a name for a job's uid
mod image; // what a sandbox takes of an image besides its layers
mod images; // the images that are ours
mod promise; // what the engine must show of a spec
pub mod record; // the folder that outlives daemon and sandbox
mod seccomp; // which calls of the kernel a sandbox may make
mod spec; // what a sandbox is made of
#[cfg(test)]
mod tests;
pub use api::{
    ContainerId, Engine, EngineError, EngineInfo, ImageFacts, Inspection,
    OwnContainer, Reply,
};
use body::body;
pub use docker::Docker;
pub use image::{allowed_env, covers};
pub use images::OwnImage;
pub use promise::verify;
pub use seccomp::seccomp_strict;
use spec::labels;
pub use spec::{Bind, LaunchSpec, SandboxId, Tmpfs};
