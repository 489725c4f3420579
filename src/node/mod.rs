//! The daemon: config read once and parsed into choices, then built, run
//! and drained.
mod asks; // what a node can be asked over NATS
mod backend; // what the local socket is answered
mod clock; // the only place where the time is read
pub mod config; // read once, parsed into choices
mod daemon; // everything built, and ended
mod engine_watch; // whether the engine answers
mod findings; // what ails the node
mod glue; // what the rooms below tell each other
mod identity; // the node's id, made once and kept
mod init_binary; // PID 1 of the sandboxes, held to be static
mod job_log; // a job's output, read and followed
mod link_config; // `[nats]` as the link wants it
mod logs; // the journal, or lines for people, or JSON
mod offers; // offers on their way to the link, the last ones kept
mod plans; // the config as the rooms below want it
mod random; // chance, for times that must not fall together
mod report; // the status document
mod senses; // all that the daemon knows of itself
mod service; // under systemd, or on a terminal, until a signal
mod state_dir; // the directory that is one daemon's alone
pub use clock::SystemClock;
pub use daemon::{Daemon, DaemonError};
pub use identity::{IdentityError, new_job_id, node_id};
pub use init_binary::{InitFault, check_init};
pub use link_config::dispatcher_config;
pub use logs::{LogsError, start_logs};
pub use service::{ServiceError, serve};
