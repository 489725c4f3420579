//! What becomes of a job: admission, its states, its limits, its seconds.
//!
//! `admission` and `step` are pure functions of state, event and time; the
//! supervisor beside them carries out what they say, ledger first.
mod plan; // what the owner lets jobs have
pub use plan::{ArtifactPlan, ArtifactSource, Caps, ClassPlan, JobPlan};
