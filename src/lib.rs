//! ovnode: a node agent that offers what a machine can run over NATS, and
//! runs the jobs it is sent in containers.
//!
//! The floors, lowest first; a room imports only from floors below its own
//! (`tests/floors.rs` keeps that):
//!
//! - 0: [`contract`], [`init`]: documents and words; no I/O, no clock.
//! - 1: [`capacity`], [`ledger`], [`engine`], [`link`], [`control`]: rooms
//!   with no doors between them.
//! - 2: [`job`], [`offer`]: decisions.
//! - 3: [`node`]: the daemon, built and wired.
//! - 4: [`cli`]: people.

pub mod capacity;
pub mod cli;
pub mod contract;
pub mod control;
pub mod engine;
pub mod init;
pub mod job;
pub mod ledger;
pub mod link;
pub mod node;
pub mod offer;
