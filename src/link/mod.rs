//! NATS: one connection, what comes in, what goes out.
//!
//! A publish here never waits for the server: frames go through a bounded
//! outbox that a task of its own empties while the link is up. Whoever sends
//! waits for room there, beside everything else it waits for.
mod inbound; // what the one reader hands on
mod outbox; // what waits to be sent
pub use inbound::{AskReceived, Inbound, Received, ReplyTo};
pub use outbox::{Outbox, OutboxClosed, Outgoing, outbox};
