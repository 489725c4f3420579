use super::book::Book;
use super::{Admission, Counts, Row, StoredExit};
use crate::contract::{DispatcherId, JobId, Now, Timestamp};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Why the ledger does not take a row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The id was seen before.
    #[error("job {0} is already in the ledger")]
    Known(JobId),
    /// No row has this id.
    #[error("job {0} is not in the ledger")]
    Unknown(JobId),
    /// The id is older than what the ledger remembers.
    #[error(
        "job {id} was made at {made} ms, at or below the floor of {floor} ms"
    )]
    BelowFloor {
        /// The job.
        id: JobId,
        /// Its ULID's time.
        made: u64,
        /// Ids up to here are refused.
        floor: u64,
    },
    /// The row's state does not allow it.
    #[error("job {id} is {state} in the ledger, so it cannot be {wanted}")]
    NotNow {
        /// The job.
        id: JobId,
        /// What it is.
        state: &'static str,
        /// What was wanted of it.
        wanted: &'static str,
    },
    /// Too many ids were cancelled before they came.
    #[error(
        "no more ids can be refused for good now: {own} of this dispatcher's \
         and {all} in all are remembered for ten minutes"
    )]
    TooManyCancels {
        /// Of the one who cancels.
        own: usize,
        /// Of all.
        all: usize,
    },
    /// Too many exits wait for an acknowledgement.
    #[error(
        "the ledger is full: {rows} rows, {bytes} bytes of exits not acknowledged"
    )]
    Full {
        /// Rows in all.
        rows: usize,
        /// Bytes of exits that nobody acknowledged.
        bytes: usize,
    },
}

/// The node's memory of every job it accepted; cheap to clone.
///
/// The calls are those of a durable ledger: each returns once what it says
/// is written, and whoever calls shows nothing to the outside before that.
#[derive(Clone, Debug)]
pub struct Ledger {
    book: Arc<Mutex<Book>>,
}

impl Ledger {
    /// An empty ledger of a daemon that started at `start`: ids made up to
    /// then are refused, as they may be jobs that it forgot.
    pub fn in_memory(start: Timestamp) -> Self {
        Self { book: Arc::new(Mutex::new(Book::new(start))) }
    }

    /// Writes the admission row, before the acknowledgement.
    ///
    /// # Errors
    /// `Known` and `BelowFloor` mean that the job must not run; `Full`, that
    /// it cannot be remembered now.
    pub fn admit(&self, row: Admission) -> Result<(), LedgerError> {
        self.book().admit(row)
    }

    /// What is known of a job.
    pub fn lookup(&self, id: &JobId) -> Option<Row> {
        self.book().lookup(id)
    }

    /// Writes the exit row, before the exit is published.
    ///
    /// # Errors
    /// When the job is not held: an exit is written once.
    pub fn ended(
        &self,
        id: &JobId,
        exit: StoredExit,
    ) -> Result<(), LedgerError> {
        self.book().ended(id, exit)
    }

    /// Its dispatcher knows how it ended. A repeat changes nothing.
    ///
    /// # Errors
    /// When the job is unknown or has not ended.
    pub fn acknowledged(
        &self,
        id: &JobId,
        now: Now,
    ) -> Result<(), LedgerError> {
        self.book().acknowledged(id, now)
    }

    /// Nobody acknowledged it for so long that the node stops saying it.
    ///
    /// # Errors
    /// When the job is unknown or does not wait for an acknowledgement.
    pub fn given_up(&self, id: &JobId, now: Now) -> Result<(), LedgerError> {
        self.book().given_up(id, now)
    }

    /// Refuses an id for good that was cancelled before it was ever seen.
    ///
    /// # Errors
    /// When the id is known, or the ledger is full.
    pub fn cancelled_tombstone(
        &self,
        id: &JobId,
        by: &DispatcherId,
        now: Now,
    ) -> Result<(), LedgerError> {
        self.book().tombstone(id, by, now)
    }

    /// Ids made at or before this moment are refused unless they are known.
    pub fn floor(&self) -> Timestamp {
        self.book().floor()
    }

    /// Jobs that ended and were not acknowledged, oldest id first.
    pub fn unacknowledged(&self) -> Vec<JobId> {
        self.book().unacknowledged()
    }

    /// How many rows of each kind there are.
    pub fn counts(&self) -> Counts {
        self.book().counts()
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // Every change of the book is a single insert or assignment, so a
        // panic elsewhere cannot have left it half done.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
