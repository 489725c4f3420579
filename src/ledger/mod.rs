//! What this node promised and what became of it.
//!
//! Whatever can be seen from outside is written here first. In memory for
//! now: the floor is the daemon's start, so ids older than that are refused
//! and none can be run a second time by a daemon that forgot it.
mod book; // the rows and their bounds
mod handle; // what the other rooms hold
mod row; // one job, from its admission to its settlement
mod tombstones; // ids refused for good, and by whom
pub use handle::{Ledger, LedgerError};
pub use row::{Admission, Counts, Row, RowState, StoredExit};
