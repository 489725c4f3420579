//! `ovnode submit`: a dispatcher for one job.
//!
//! It finds a node, sends the job, prints what the node says about it, and
//! acknowledges the exit. How that passes over the wire is behind
//! [`wire::Wire`]: everything here is tested without a server.
mod client; // the library's dispatcher as what is asked of NATS
mod command; // arguments, and the job in a file
mod notes; // what is printed of a frame
mod pick; // which node of those that offer
mod session; // from the job to its fate
mod wire; // what is asked of NATS
pub(super) use command::{SubmitArgs, run};

#[cfg(test)]
mod tests;
