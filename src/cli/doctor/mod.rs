//! What is wrong with this machine, and the one command that mends it.
//!
//! Looking is apart from judging: each file looks at one thing and hands
//! what it saw to a pure function that makes a check of it, so that machines
//! nobody has at hand are tested as data.
mod check; // a finding, and how it is printed
mod engine; // the container engine and the images of classes
mod host; // user, cgroups, clock, disk, daemon, GPU
mod init; // the static binary that is PID 1
mod nats; // servers and credentials
mod run; // everything in order
pub(super) use run::{DoctorArgs, run};
