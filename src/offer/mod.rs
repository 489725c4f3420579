//! What a node says about itself, and when it says it.
//!
//! One snapshot makes all offers of a moment. What is said and when are
//! pure functions of facts and time; the task beside them only gathers and
//! hands on, and no error of whoever it hands to can end it.
mod compose; // facts into the node's own offer
mod condition; // what ails a node, and what that means for readers
mod facts; // what is known at one moment
mod figures; // what is free, in the contract's numbers
mod latency; // how long the node's own operations took
mod runtime; // facts into runtime offers
mod schedule; // when an offer is due
mod speaker; // which offers of a moment are said, and which later
mod task; // the one task that says them
pub use compose::{compose, statements};
pub use condition::{Condition, Finding, Row, Slots, Verdict};
pub use facts::{
    ClassFacts, Identity, JobView, OfferFacts, OfferPlan, Promised, Reserve,
    RuntimePlan, Statement,
};
pub use latency::{Latencies, Operation};
pub use runtime::compose_runtime;
pub use schedule::{Gist, Level, Levels, Said, When, due};
pub use speaker::Speaker;
pub use task::{OfferParts, Say, start};

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
