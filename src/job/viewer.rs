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
    board: Arc<Board>,
    slots: Slots,
    plan: Arc<JobPlan>,
    ledger: Ledger,
    /// Of the board and of the slots.
    changes: (watch::Receiver<u64>, watch::Receiver<u64>),
    shown: watch::Sender<JobsView>,
}

impl Viewer {
    /// One that follows from now on, and what it shows.
    pub(crate) fn new(
        (board, slots): (&Arc<Board>, &Slots),
        plan: &Arc<JobPlan>,
        ledger: &Ledger,
    ) -> (Self, watch::Receiver<JobsView>) {
        let (board, slots) = (board.clone(), slots.clone());
        // Before the first view: what changes right after it must be seen.
        let changes = (board.changes(), slots.changes());
        let (plan, ledger) = (plan.clone(), ledger.clone());
        let (shown, seen) = watch::channel(JobsView::default());
        let viewer = Self { board, slots, plan, ledger, changes, shown };
        viewer.shown.send_replace(viewer.view());
        (viewer, seen)
    }

    /// Shows a new view whenever one differs, until the daemon ends.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        while let Some(Ok(())) = stop.run_until_cancelled(self.changed()).await
        {
            tokio::time::sleep(GATHER).await;
            self.changes.0.mark_unchanged();
            self.changes.1.mark_unchanged();
            let next = self.view();
            self.shown.send_if_modified(|view| {
                let differs = *view != next;
                *view = next;
                differs
            });
        }
    }

    async fn changed(&mut self) -> Result<(), watch::error::RecvError> {
        let (board, slots) = &mut self.changes;
        tokio::select! {
            changed = board.changed() => changed,
            changed = slots.changed() => changed,
        }
    }

    fn view(&self) -> JobsView {
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
            ledger: self.ledger.counts(),
            checked: self.board.checked(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Timestamp;
    use crate::job::testing::plan;
    use crate::job::{Standing, Timed};
    use std::collections::BTreeMap;
    use tokio_util::task::TaskTracker;

    #[tokio::test(start_paused = true)]
    async fn what_changes_before_the_task_runs_is_shown_too() {
        let plan = Arc::new(plan(1));
        let board = Arc::new(Board::new(BTreeMap::new(), Timed::default()));
        let (slots, ledger) =
            (Slots::new(&plan), Ledger::in_memory(Timestamp(0)));
        let (viewer, mut view) = Viewer::new((&board, &slots), &plan, &ledger);
        TaskTracker::new().spawn(viewer.run(CancellationToken::new()));
        board.set_standing(Standing::Open);
        let open = view.wait_for(|view| view.standing == Standing::Open);
        let seen = tokio::time::timeout(Duration::from_secs(1), open).await;
        assert!(seen.is_ok(), "the node is shown as starting for ever");
    }
}
