//! The daemon: config read once and parsed into choices, then built, run
//! and drained.
mod clock; // the only place where the time is read
pub mod config; // read once, parsed into choices
mod engine_watch; // whether the engine answers
mod identity; // the node's id, made once and kept
mod link_config; // `[nats]` as the link wants it
mod logs; // the journal, or lines for people, or JSON
pub use clock::SystemClock;
pub use identity::{IdentityError, new_job_id, node_id};
pub use link_config::dispatcher_config;
pub use logs::{LogsError, start_logs};
