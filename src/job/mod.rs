//! What becomes of a job: admission, its states, its limits, its seconds.
//!
//! `admission` and `step` are pure functions of state, event and time; the
//! supervisor beside them carries out what they say, ledger first.
mod admission; // whether a job is taken
mod chunk; // bytes of output into pieces of text
mod meter; // seconds of job time
mod plan; // what the owner lets jobs have
mod result; // what a job wrote to fd 3
mod slots; // who may run beside whom
mod step; // what a job does next
#[cfg(test)]
mod testing; // a plan and ids for the tests of this room
pub use admission::Standing;
pub use plan::{ArtifactPlan, ArtifactSource, Caps, ClassPlan, JobPlan};
pub use slots::Promised;
