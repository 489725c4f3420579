//! Whether a job is taken: the first row of the answer table that holds.
//!
//! The order of the rows is the contract: a dispatcher that is told
//! `not_ready` may conclude that nothing above that row is wrong with its
//! job. Signatures would be judged first and again behind the envelope; they
//! are not verified here yet.
mod control; // cancels and acknowledgements
mod fit; // whether the node can hold it
mod rows; // the table, in its order
#[cfg(test)]
mod tests; // every row, and pairs of rows that both hold
mod view; // what is asked, of which node, and what is answered
pub(crate) use control::{ControlVerdict, control};
pub(crate) use rows::admit;
pub use view::Standing;
pub(crate) use view::{
    Admitted, ClassStanding, Lookup, NodeView, ReceivedFrame, Refusal, Room,
    Verdict,
};
