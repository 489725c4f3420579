//! The local socket: how people and programs on this machine ask the daemon.
//!
//! HTTP and JSON over a Unix socket, in documents that are described in
//! `docs/status.md`. The server knows no job: a [`Backend`] answers, and
//! whoever reads slowly, sends slowly or asks too much loses the connection,
//! never the daemon's time.
mod backend; // what the daemon answers
mod client; // who asks
#[cfg(feature = "fakes")]
mod fake;
mod patience; // a connection that may not stall
mod routes; // from paths to the backend
mod server; // accepts, bounds, ends
mod socket; // the file: lock, mode, group, stale ones // a daemon without one
pub use backend::{Backend, BackendError, Documents, Payload, Reply};
pub use client::{ClientError, ControlClient, ControlStream};
#[cfg(feature = "fakes")]
pub use fake::FakeBackend;
pub use server::{ControlLimits, ControlServer};
pub use socket::SocketError;
