//! The daemon: config read once and parsed into choices, then built, run
//! and drained.
mod clock; // the only place where the time is read
pub mod config; // read once, parsed into choices
mod identity; // the node's id, made once and kept
mod logs; // the journal, or lines for people, or JSON
pub use clock::SystemClock;
pub use identity::{IdentityError, node_id};
pub use logs::{LogsError, start_logs};
