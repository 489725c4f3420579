use super::JobPlan;
use super::board::Board;
use super::slots::Slots;
use super::view::{ClassView, JobsView};
use crate::ledger::Ledger;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How long changes are gathered before a view is made of them: a burst of
/// jobs makes one view, and an offer is still at once.
const GATHER: Duration = Duration::from_millis(20);

/// Makes a view of whatever changed.
pub(crate) struct Viewer {
    pub(crate) board: Arc<Board>,
    pub(crate) plan: Arc<JobPlan>,
    pub(crate) slots: Slots,
    pub(crate) ledger: Ledger,
}

impl Viewer {
    /// Shows a new view whenever one differs, until the daemon ends.
    pub(crate) async fn run(
        self,
        shown: watch::Sender<JobsView>,
        stop: CancellationToken,
    ) {
        let (mut board, mut slots) =
            (self.board.changes(), self.slots.changes());
        loop {
            let next = async {
                tokio::select! {
                    changed = board.changed() => changed,
                    changed = slots.changed() => changed,
                }
            };
            let changed = tokio::select! {
                () = stop.cancelled() => return,
                changed = next => changed,
            };
            if changed.is_err() {
                return;
            }
            tokio::time::sleep(GATHER).await;
            board.mark_unchanged();
            slots.mark_unchanged();
            shown.send_if_modified(|view| {
                let next = self.view();
                let differs = *view != next;
                *view = next;
                differs
            });
        }
    }

    pub(crate) fn view(&self) -> JobsView {
        let class = |(class, plan): (&_, &super::ClassPlan)| {
            let withdrawn = self.board.withdrawn(*class);
            let free = self.slots.free(*class);
            ClassView {
                class: *class,
                free: if withdrawn.is_none() { free } else { 0 },
                withdrawn,
                slots: plan.slots,
            }
        };
        JobsView {
            standing: self.board.standing(),
            classes: self.plan.classes.iter().map(class).collect(),
            promised: self.slots.promised(),
            jobs: self.board.jobs(),
            refusals: self.board.refusals(),
            accepted: self.board.answered().0,
            refused: self.board.answered().1,
            ended: self.board.ended_counts(),
            error_rate: self.board.error_rate(),
            starts: self.board.starts(),
            ledger: self.ledger.counts(),
            checked: self.board.checked(),
        }
    }
}
