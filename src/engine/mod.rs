//! Containers, behind one narrow trait.
//!
//! Launch specs are pure values and snapshot-tested; what the engine made of
//! them is read back and compared before a job may start, since an engine
//! ignores what it does not know.
mod api; // the trait, its answers and its errors
mod spec; // what a sandbox is made of
pub use api::{
    ContainerId, Engine, EngineError, EngineInfo, ImageFacts, Inspection,
    OwnContainer, Reply,
};
pub use spec::{Bind, LaunchSpec, SandboxId, Tmpfs};
