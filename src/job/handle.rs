use super::Standing;
use super::board::{Board, NotRunning, Order};
use super::past::Past;
use super::probe::ProbeReport;
use super::resend::Resender;
use super::shelf::{KeptOutput, LogsError, Shelf};
use super::view::{EndedJob, JobsView};
use crate::contract::{JobId, Reason};
use crate::ledger::Ledger;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// What the rest of the daemon holds of its jobs.
#[derive(Clone)]
pub struct JobsHandle {
    pub(super) board: Arc<Board>,
    pub(super) past: Arc<Past>,
    pub(super) ledger: Ledger,
    pub(super) shelf: Arc<Shelf>,
    pub(super) resender: Resender,
    pub(super) view: watch::Receiver<JobsView>,
    pub(super) reports: watch::Receiver<Vec<ProbeReport>>,
    pub(super) asked: Arc<Notify>,
}

/// There is no such job here (any more).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("job {0} does not run here")]
pub struct NotHere(pub JobId);

impl JobsHandle {
    /// All that anyone may see, and when it changes.
    pub fn view(&self) -> watch::Receiver<JobsView> {
        self.view.clone()
    }

    /// The last probe of every class, and when that changes.
    pub fn reports(&self) -> watch::Receiver<Vec<ProbeReport>> {
        self.reports.clone()
    }

    /// Whether the node takes jobs from now on.
    pub fn set_standing(&self, standing: Standing) {
        self.board.set_standing(standing);
    }

    /// Takes no job of any class, for a reason that no probe sees: the engine
    /// is away, the disk is full. `None` leaves it to the probes again.
    pub fn hold_back(&self, why: Option<Reason>) {
        self.board.hold_back(why);
    }

    /// Probes every class now: after an engine or a firewall came back.
    pub fn probe_now(&self) {
        self.asked.notify_one();
    }

    /// The link is up again: exits not acknowledged are said again.
    pub fn reconnected(&self) {
        self.resender.all();
    }

    /// Ends a job on the owner's word, as its dispatcher's cancel would.
    ///
    /// # Errors
    /// When it is not here; one that ended is not.
    pub fn cancel(&self, id: &JobId) -> Result<(), NotHere> {
        self.order(id, Order::Cancel)
    }

    fn order(&self, id: &JobId, order: Order) -> Result<(), NotHere> {
        let told = self.board.order(id, order);
        told.map_err(|NotRunning| NotHere(id.clone()))
    }

    /// The last jobs that ended, the newest first.
    pub fn past(&self) -> Vec<EndedJob> {
        let mut past = self.past.all();
        for ended in &mut past {
            let row = self.ledger.lookup(ended.id());
            // A row that is forgotten was settled long ago.
            ended.acked = row.is_none_or(|row| row.state.is_settled());
        }
        past
    }

    /// The last bytes of a job's output, while that is kept. Reads a file.
    ///
    /// # Errors
    /// When it is not kept, or cannot be read.
    pub fn logs(
        &self,
        id: &JobId,
        most: usize,
    ) -> Result<KeptOutput, LogsError> {
        self.shelf.last(id, most)
    }

    /// A job's output from an absolute offset on, while that is kept. Reads
    /// a file.
    ///
    /// # Errors
    /// When it is not kept, or cannot be read.
    pub fn logs_from(
        &self,
        id: &JobId,
        offset: u64,
        most: usize,
    ) -> Result<KeptOutput, LogsError> {
        self.shelf.from(id, offset, most)
    }

    /// Takes no more jobs, ends those that are here with reason `stopped`,
    /// and waits until the last word of each is on its way.
    ///
    /// # Errors
    /// The number of jobs that were still here at the deadline.
    pub async fn shutdown(&self, deadline: Duration) -> Result<(), usize> {
        self.set_standing(Standing::Stopping);
        let mut changes = self.board.changes();
        let gone = async {
            loop {
                changes.mark_unchanged();
                let left = self.board.jobs();
                for job in &left {
                    // One that is not there any more needs no order.
                    drop(self.order(&job.id, Order::Stop));
                }
                if left.is_empty() || changes.changed().await.is_err() {
                    return;
                }
            }
        };
        match tokio::time::timeout(deadline, gone).await {
            Ok(()) => Ok(()),
            Err(_late) => Err(self.board.jobs().len()),
        }
    }
}
