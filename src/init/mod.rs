//! What the daemon and PID 1 of a sandbox say to each other: lines on a
//! socket while both live, files in the record for what must outlive either.
//!
//! Formats only. The host's side is read and written in `engine::record`,
//! the sandbox's in the binary `ovnode-init`, which names nothing else of
//! this crate.
mod lines; // what passes over the socket
mod record; // the files of a record
pub use lines::{FromInit, Orders, StderrTo, ToInit};
pub use record::{Begun, EndedBy, ExitRecord, Identity, Outcome, names};
