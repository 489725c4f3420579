//! What becomes of a job: admission, its states, its limits, its seconds.
//!
//! `admission` and `step` are pure functions of state, event and time; the
//! supervisor beside them carries out what they say, ledger first.
mod admission; // whether a job is taken
mod bill; // what a job is billed for
mod board; // the jobs that are here, and what became of the others
mod chunk; // bytes of output into pieces of text
mod desk; // whoever answers requests
mod frames; // one job's frames, numbered
mod handle; // what the rest of the daemon holds
mod meter; // seconds of job time
mod past; // the last jobs that ended
mod plan; // what the owner lets jobs have
mod probe; // what a class promises, tried
mod pump; // what a job has to say before its exit
mod resend; // exits until they are acknowledged
mod result; // what a job wrote to fd 3
mod sandbox; // one sandbox, as a supervisor sees it
mod shelf; // output that is kept
mod slots; // who may run beside whom
mod start; // the tasks of the room, built and joined
mod step; // what a job does next
mod supervisor; // one task a job
#[cfg(test)]
mod testing; // a plan and ids for the tests of this room
mod view; // what anyone may see
mod viewer; // made anew whenever something changed
mod vital; // tasks that the daemon does not outlive
pub use admission::Standing;
pub use bill::usage_samples;
pub use handle::{JobsHandle, NotHere};
pub use plan::{ArtifactPlan, ArtifactSource, Caps, ClassPlan, JobPlan};
pub use probe::{ProbeReport, Promise};
pub use sandbox::SandboxNames;
pub use shelf::{KeptOutput, LogsError};
pub use slots::Promised;
pub use start::{Jobs, JobsParts};
pub use view::{
    ClassView, EndedCounts, EndedJob, JobsView, RefusalSeen, RunningJob, Timed,
};
pub use vital::Vital;
