//! NATS: one connection, what comes in, what goes out, and the dispatcher's
//! side of the same wire.
//!
//! A publish here never waits for the server: frames go through a bounded
//! outbox that is emptied while the link is up. Whoever sends waits for room
//! there, beside everything else it waits for. A connection is never mended:
//! when one breaks, a new one is made with credentials read afresh, so no
//! subscription can be quietly dead.
mod auth; // credentials, read again for every attempt
pub mod client; // the dispatcher's side, the library's public face
mod config; // what a link must be told
mod counts; // what was dropped, and a log that cannot be flooded
mod denial; // which subjects the server forbids
mod ears; // the subscriptions of a node that serves
mod echo; // messages to ourselves: round trips, and proof of hearing
mod error; // what can go wrong
mod handle; // LinkHandle: what the other floors hold
mod inbound; // what the one reader hands on
mod jitter; // when to try again
mod lane; // a queue whose first outlives a session
mod names; // the subjects of one node
mod outbox; // what waits to be sent
mod peek; // which queue a frame belongs to
mod phases; // a session looks around, proves itself, serves or yields
mod pump; // empties the outbox while the link is up
mod reader; // the one reader: only classifies
mod rival; // another node under our id
mod sayings; // the last offer of each subject
mod service; // $SRV.PING, so that `nats micro` finds the node
mod session; // one connection's life
mod state; // how the link is, in a word and a sentence
mod task; // the supervisor: one session after the other
mod voice; // what one session can say
mod wire; // one connection made, and never mended
pub use config::{LinkAuth, LinkConfig, LinkTiming, LinkTls, Secret};
pub use counts::LinkCounts;
pub use error::LinkError;
pub use handle::{LinkHandle, OfferOut, RoundTrip};
pub use inbound::{AskReceived, Inbound, Received, ReplyTo};
pub use outbox::{Outbox, OutboxClosed, Outgoing, outbox};
pub use state::LinkState;
pub use task::Link;
