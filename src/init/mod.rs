//! What the daemon and PID 1 of a sandbox say to each other: lines on a
//! socket while both live, files in the record for what must outlive either.
//!
//! Formats only. The host's side is read and written in `engine::record`,
//! the sandbox's in the binary `ovnode-init`, which names nothing else of
//! this crate.
pub mod code; // with what PID 1 itself exits
mod lines; // what passes over the socket
mod record; // the files of a record
pub mod ring; // where a stream's bytes lie in a file
pub use lines::{FromInit, MAX_LINE_BYTES, Orders, Phase, StderrTo, ToInit};
pub use record::{Begun, EndedBy, ExitRecord, Identity, Outcome, names};
