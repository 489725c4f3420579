//! One task a job: it gathers what happens, asks `step` what that means, and
//! does what it says.
//!
//! The order is what counts: the ledger's row before anything is shown, the
//! orders once, the exit after the last output. Output that the link has no
//! room for stays in the sandbox's ring.
mod act; // what the effects of a step do
mod guard; // whatever happens to the loop, the job has an end
mod task; // the loop, and what it waits for
#[cfg(test)]
mod tests; // over a sandbox of memory
pub(crate) use task::{Context, JobCard, Supervisor};
