use super::admission::{Refusal, Standing};
use super::view::{EndedCounts, RefusalSeen, RunningJob, Timed};
use crate::contract::{
    DispatcherId, ExitReason, FaultCode, JobId, JobPhase, Ratio, Reason,
    RuntimeClass, Timestamp,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// Refusals kept for whoever looks at the node.
const REFUSALS: usize = 50;
/// Ended jobs of which the share of failed ones is said.
const LAST_ENDED: usize = 100;

/// What a supervisor is told from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Its dispatcher wants the job ended.
    Cancel,
    /// The owner wants it ended.
    Stop,
}

/// Why there is nobody to take an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotRunning;

/// The jobs that are here, and what became of those that were: what every
/// part of the room writes to and whoever looks reads from.
#[derive(Debug)]
pub(crate) struct Board {
    book: Mutex<Book>,
    changed: watch::Sender<u64>,
    timed: Timed,
}

#[derive(Debug, Default)]
struct Book {
    standing: Standing,
    /// Why no class takes a job now, whatever its probe found.
    held_back: Option<Reason>,
    withdrawn: BTreeMap<RuntimeClass, Reason>,
    checked: Option<Timestamp>,
    jobs: BTreeMap<JobId, Entry>,
    refusals: VecDeque<RefusalSeen>,
    accepted: u64,
    refused: u64,
    ended: EndedCounts,
    failed: VecDeque<bool>,
}

#[derive(Debug)]
struct Entry {
    orders: mpsc::Sender<Order>,
    job: RunningJob,
}

impl Board {
    /// A board of a node that is starting: no class is offered before its
    /// probe passed.
    pub(crate) fn new(
        withdrawn: BTreeMap<RuntimeClass, Reason>,
        timed: Timed,
    ) -> Self {
        let book = Mutex::new(Book { withdrawn, ..Book::default() });
        Self { book, changed: watch::Sender::new(0), timed }
    }

    /// Changes with whatever is written.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub(crate) fn standing(&self) -> Standing {
        self.book().standing
    }

    /// Once it is stopping, that is not taken back: whoever waits for the
    /// last job would miss those that come after.
    pub(crate) fn set_standing(&self, standing: Standing) {
        self.write(|book| {
            if book.standing != Standing::Stopping {
                book.standing = standing;
            }
        });
    }

    pub(crate) fn withdrawn(&self, class: RuntimeClass) -> Option<Reason> {
        let book = self.book();
        let all = book.held_back.as_ref();
        all.or_else(|| book.withdrawn.get(&class)).cloned()
    }

    /// Takes no job of any class from now on, for a reason that no probe of
    /// a class sees; `None` leaves it to the probes again.
    pub(crate) fn hold_back(&self, why: Option<Reason>) {
        if self.book().held_back != why {
            self.write(|book| book.held_back = why);
        }
    }

    /// A job was taken, and that was ready to be said so long after its
    /// request was looked at.
    pub(crate) fn taken(&self, took: Duration) {
        (self.timed.ack)(took);
        self.write(|book| book.accepted = book.accepted.saturating_add(1));
    }

    /// A class was probed at `at`: withdrawn with a reason, or offered.
    pub(crate) fn probed(
        &self,
        class: RuntimeClass,
        why_not: Option<Reason>,
        at: Timestamp,
    ) {
        self.write(|book| {
            book.checked = Some(at);
            match why_not {
                Some(why) => drop(book.withdrawn.insert(class, why)),
                None => drop(book.withdrawn.remove(&class)),
            }
        });
    }

    pub(crate) fn checked(&self) -> Option<Timestamp> {
        self.book().checked
    }

    /// A job is here from now on; whoever supervises it hears orders on the
    /// other end. Refused once the node is shut: whoever shuts it finds every
    /// job on the board, and none comes after.
    pub(crate) fn enter(
        &self,
        job: RunningJob,
        orders: mpsc::Sender<Order>,
    ) -> Result<(), (FaultCode, Reason)> {
        self.write(|book| match book.standing.shut() {
            Some(why) => Err(why),
            None => {
                book.jobs.insert(job.id.clone(), Entry { orders, job });
                Ok(())
            }
        })
    }

    /// Something about a job changed.
    pub(crate) fn update(
        &self,
        id: &JobId,
        change: impl FnOnce(&mut RunningJob),
    ) {
        self.write(|book| {
            if let Some(entry) = book.jobs.get_mut(id) {
                change(&mut entry.job);
            }
        });
    }

    /// A job of `class` started so long after its receipt.
    pub(crate) fn started(&self, class: RuntimeClass, took: Duration) {
        (self.timed.start)(class, took);
    }

    /// A job's exit is written.
    pub(crate) fn ended(&self, reason: ExitReason) {
        self.write(|book| {
            *book.ended.entry(reason).or_default() += 1;
            let failed = reason == ExitReason::Failed;
            push(&mut book.failed, failed, LAST_ENDED);
        });
    }

    /// A job's last word is on its way, or its row was not written: it is
    /// here no more.
    pub(crate) fn leave(&self, id: &JobId) {
        self.write(|book| drop(book.jobs.remove(id)));
    }

    pub(crate) fn refused(&self, seen: RefusalSeen) {
        self.write(|book| {
            book.refused = book.refused.saturating_add(1);
            push(&mut book.refusals, seen, REFUSALS);
        });
    }

    /// Tells a job's supervisor something. A full queue holds an order to
    /// end already, and one is as good as two.
    pub(crate) fn order(
        &self,
        id: &JobId,
        order: Order,
    ) -> Result<(), NotRunning> {
        let book = self.book();
        let entry = book.jobs.get(id).ok_or(NotRunning)?;
        match entry.orders.try_send(order) {
            Ok(()) | Err(mpsc::error::TrySendError::Full(_)) => Ok(()),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(NotRunning),
        }
    }

    /// One job that is here.
    pub(crate) fn job(&self, id: &JobId) -> Option<RunningJob> {
        self.book().jobs.get(id).map(|entry| entry.job.clone())
    }

    pub(crate) fn jobs(&self) -> Vec<RunningJob> {
        self.book().jobs.values().map(|entry| entry.job.clone()).collect()
    }

    /// Ended jobs whose last words still wait for the link.
    pub(crate) fn unsent(&self) -> usize {
        let book = self.book();
        let ended = |entry: &&Entry| entry.job.phase == JobPhase::Ended;
        book.jobs.values().filter(ended).count()
    }

    pub(crate) fn refusals(&self) -> Vec<RefusalSeen> {
        self.book().refusals.iter().cloned().collect()
    }

    /// Requests taken and refused since the start.
    pub(crate) fn answered(&self) -> (u64, u64) {
        let book = self.book();
        (book.accepted, book.refused)
    }

    pub(crate) fn ended_counts(&self) -> EndedCounts {
        self.book().ended.clone()
    }

    /// `failed` among the last ended jobs; `None` before the first ended.
    pub(crate) fn error_rate(&self) -> Option<Ratio> {
        let book = self.book();
        let all = book.failed.len();
        let failed = book.failed.iter().filter(|failed| **failed).count();
        // Both are at most 100.
        (all > 0).then(|| Ratio::clamped(failed as f64 / all as f64))?
    }

    /// Something that is shown beside the board changed: the ledger.
    pub(crate) fn touch(&self) {
        self.write(|_| ());
    }

    fn write<T>(&self, change: impl FnOnce(&mut Book) -> T) -> T {
        let made = change(&mut self.book());
        self.changed.send_modify(|n| *n = n.wrapping_add(1));
        made
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // Each change is one insert or assignment: none can be half done.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn push<T>(queue: &mut VecDeque<T>, item: T, most: usize) {
    if queue.len() >= most {
        queue.pop_front();
    }
    queue.push_back(item);
}

impl RefusalSeen {
    /// A refusal as it is shown.
    pub(crate) fn of(
        refusal: &Refusal,
        dispatcher: &DispatcherId,
        at: Timestamp,
    ) -> Self {
        Self {
            at,
            dispatcher: dispatcher.clone(),
            id: refusal.id.clone(),
            code: refusal.code,
            message: refusal.message.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Bytes, Limits};
    use crate::job::testing::{artifact, dispatcher, job_id};

    #[test]
    fn the_error_rate_is_that_of_the_last_hundred() {
        let board = Board::new(BTreeMap::new(), Timed::default());
        assert_eq!(board.error_rate(), None);
        for _ in 0..50 {
            board.ended(ExitReason::Failed);
        }
        assert_eq!(board.error_rate(), Ratio::clamped(1.0));
        for _ in 0..75 {
            board.ended(ExitReason::Exited);
        }
        assert_eq!(board.error_rate(), Ratio::clamped(0.25));
        assert_eq!(board.ended_counts()[&ExitReason::Failed], 50);
    }

    fn enter(board: &Board, n: u64) -> Result<(), FaultCode> {
        let zero = Duration::ZERO;
        let job = RunningJob {
            id: job_id(0, n),
            dispatcher: dispatcher("alice"),
            class: RuntimeClass::Function,
            artifact: artifact("echo"),
            phase: JobPhase::Admitted,
            received: Timestamp(0),
            started: None,
            started_mono: None,
            used: crate::job::view::Used::default(),
            limits: Limits { wall: zero, cpu: zero, memory: Bytes(1) },
        };
        board.enter(job, mpsc::channel(1).0).map_err(|(code, _)| code)
    }

    #[test]
    fn no_job_comes_after_the_end_of_the_node_was_said() {
        let board = Board::new(BTreeMap::new(), Timed::default());
        board.set_standing(Standing::Open);
        assert_eq!(enter(&board, 1), Ok(()));
        board.set_standing(Standing::Stopping);
        assert_eq!(enter(&board, 2), Err(FaultCode::ShuttingDown));
        board.set_standing(Standing::Open);
        assert_eq!(enter(&board, 3), Err(FaultCode::ShuttingDown));
        assert_eq!(board.jobs().len(), 1);
    }

    #[test]
    fn only_the_last_refusals_are_kept() {
        let board = Board::new(BTreeMap::new(), Timed::default());
        for n in 0..60 {
            board.refused(RefusalSeen {
                at: Timestamp(n),
                dispatcher: dispatcher("alice"),
                id: None,
                code: FaultCode::NotReady,
                message: String::new(),
            });
        }
        let seen = board.refusals();
        assert_eq!((seen.len(), seen[0].at), (50, Timestamp(10)));
    }
}
