//! What a class promises, tried on a real sandbox before it is offered.
//!
//! A shell script runs where a job would, in a container made as a job's is,
//! and only reports what it finds; whether that is what was promised is
//! decided here, as data. What can be seen from outside is not asked inside.
mod facts; // what the script reported
mod judge; // whether that is what was promised
mod run; // one probe of one class
mod task; // at the start, on a timer, on request
#[cfg(test)]
mod tests; // reports of good and of leaky sandboxes
pub use judge::{ProbeReport, Promise};
pub(crate) use task::ProbeTask;
