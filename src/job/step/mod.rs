//! What a job does next: a pure function of its phase, an event and the time.
//!
//! A job that is told to end is not over: it is over when its sandbox is
//! gone, and only then is decided what its exit says, since the program may
//! have ended by itself in the meantime. What follows the exit (resends, the
//! acknowledgement) is the ledger's row, not a phase.
mod conclude; // what the exit says
mod phase; // where a job stands, and what was agreed about it
mod table; // the transitions
#[cfg(test)]
mod tests; // every transition as data
pub(crate) use conclude::{Conclusion, End, LastSeen};
pub(crate) use phase::{Exec, Phase, Terms};
pub(crate) use table::{Effect, Event, OpenFault, step};
#[cfg(test)]
use {phase::Cause, table::Step};
