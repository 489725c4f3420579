use super::sandbox::Tail;
use crate::contract::JobId;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Ended jobs whose output is kept: their rings take up to 64 MiB of disk
/// each, so 16 of them are a gigabyte.
const KEPT: usize = 16;

/// Why there is no output of a job.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogsError {
    /// It never ran here, or its output is no longer kept.
    #[error("no output of job {0} is kept here")]
    NotKept(JobId),
    /// It is there and cannot be read.
    #[error("cannot read the output of job {id}: {said}")]
    Unreadable {
        /// Which job.
        id: JobId,
        /// Why.
        said: String,
    },
}

/// The output of jobs that run, and of the last that ran.
#[derive(Default)]
pub(crate) struct Shelf {
    kept: Mutex<VecDeque<Kept>>,
}

struct Kept {
    id: JobId,
    ended: bool,
    tail: Box<dyn Tail>,
}

impl Shelf {
    /// A job has a sandbox: its output can be asked for from now on.
    pub(crate) fn put(&self, id: &JobId, tail: Box<dyn Tail>) {
        let id = id.clone();
        self.kept().push_back(Kept { id, ended: false, tail });
    }

    /// A job ended: it is kept until enough others have.
    pub(crate) fn ended(&self, id: &JobId) {
        let gone = {
            let mut kept = self.kept();
            for one in kept.iter_mut().filter(|one| one.id == *id) {
                one.ended = true;
            }
            let ended = kept.iter().filter(|one| one.ended).count();
            let oldest = kept.iter().position(|one| one.ended);
            oldest.filter(|_| ended > KEPT).and_then(|at| kept.remove(at))
        };
        drop(gone); // removes a record: not while others wait for the lock
    }

    /// The last bytes of a job's output.
    pub(crate) fn last(
        &self,
        id: &JobId,
        most: usize,
    ) -> Result<Vec<u8>, LogsError> {
        let mut kept = self.kept();
        let found = kept.iter_mut().rev().find(|one| one.id == *id);
        let found = found.ok_or_else(|| LogsError::NotKept(id.clone()))?;
        found
            .tail
            .last(most)
            .map_err(|said| LogsError::Unreadable { id: id.clone(), said })
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
