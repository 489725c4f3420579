use super::sandbox::Tail;
use crate::contract::JobId;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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

/// A piece of a job's output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptOutput {
    /// Where it begins: behind what was asked for where bytes were
    /// overwritten.
    pub start: u64,
    /// What lies there.
    pub bytes: Vec<u8>,
    /// Where all of the output ends for now.
    pub end: u64,
}

impl KeptOutput {
    /// The offset behind the last of its bytes: where to go on.
    pub fn end_of_bytes(&self) -> u64 {
        let length = u64::try_from(self.bytes.len()).unwrap_or(u64::MAX);
        self.start.saturating_add(length)
    }
}

/// The output of jobs that run, and of the last that ran.
#[derive(Default)]
pub(crate) struct Shelf {
    kept: Mutex<VecDeque<Kept>>,
}

struct Kept {
    id: JobId,
    ended: bool,
    tail: SharedTail,
}

/// Locked for itself, so that who reads a file keeps no job from starting or
/// ending meanwhile.
type SharedTail = Arc<Mutex<Box<dyn Tail>>>;

impl Shelf {
    /// A job has a sandbox: its output can be asked for from now on.
    pub(crate) fn put(&self, id: &JobId, tail: Box<dyn Tail>) {
        let id = id.clone();
        let tail = Arc::new(Mutex::new(tail));
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
    ) -> Result<KeptOutput, LogsError> {
        let tail = self.tail(id)?;
        let end = read(&tail, id, (0, 0))?.end;
        let back = u64::try_from(most).unwrap_or(u64::MAX);
        read(&tail, id, (end.saturating_sub(back), most))
    }

    /// A job's output from an absolute offset on.
    pub(crate) fn from(
        &self,
        id: &JobId,
        offset: u64,
        most: usize,
    ) -> Result<KeptOutput, LogsError> {
        read(&self.tail(id)?, id, (offset, most))
    }

    fn tail(&self, id: &JobId) -> Result<SharedTail, LogsError> {
        let kept = self.kept();
        let found = kept.iter().rev().find(|one| one.id == *id);
        let tail = found.map(|one| Arc::clone(&one.tail));
        tail.ok_or_else(|| LogsError::NotKept(id.clone()))
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(
    tail: &SharedTail,
    id: &JobId,
    (from, most): (u64, usize),
) -> Result<KeptOutput, LogsError> {
    let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
    let unreadable = |said| LogsError::Unreadable { id: id.clone(), said };
    tail.read(from, most).map_err(unreadable)
}
