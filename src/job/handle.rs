use super::board::{Board, NotRunning, Order};
use super::desk::Desk;
use super::probe::{ProbeReport, ProbeTask};
use super::resend::{ResendTask, Resender};
use super::sandbox::{EngineWorkshop, RemoveTask, Remover, SandboxNames};
use super::shelf::{LogsError, Shelf};
use super::slots::Slots;
use super::supervisor::Context;
use super::view::{ClassView, JobsView, Timed};
use super::{JobPlan, Standing};
use crate::contract::{
    Bytes, Clock, DispatcherId, JobId, NodeId, Reason, ReasonCode,
    RuntimeClass, Subjects,
};
use crate::engine::Engine;
use crate::ledger::Ledger;
use crate::link::{Outbox, Received};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long changes are gathered before a view is made of them: a burst of
/// jobs makes one view, and an offer is still at once.
const GATHER: Duration = Duration::from_millis(20);

/// What jobs need from the floors below and from the node.
pub struct JobsParts<E> {
    /// What the owner lets jobs have.
    pub plan: JobPlan,
    /// Under which subjects, as which node.
    pub names: (Subjects, NodeId),
    /// The container engine.
    pub engine: Arc<E>,
    /// The node's memory.
    pub ledger: Ledger,
    /// The way out.
    pub outbox: Outbox,
    /// `Inbound::jobs` and `Inbound::controls`.
    pub requests: (mpsc::Receiver<Received>, mpsc::Receiver<Received>),
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Makes `sb_<ULID>`.
    pub sandboxes: SandboxNames,
    /// Makes numbers from 0 to 1.
    pub jitter: Arc<dyn Fn() -> f64 + Send + Sync>,
    /// The largest message that the server takes now.
    pub max_payload: Arc<dyn Fn() -> usize + Send + Sync>,
    /// Memory that a further job could have; `None` while it is not known.
    pub memory: watch::Receiver<Option<Bytes>>,
    /// Who hears how long things took.
    pub timed: Timed,
    /// Between two probes of a class that passed (10 min).
    pub probe_every: Duration,
    /// Where tasks are spawned.
    pub tasks: TaskTracker,
    /// Ends every task here at once; [`JobsHandle::shutdown`] comes before.
    pub stop: CancellationToken,
}

/// The part of the daemon that runs jobs.
pub struct Jobs;

impl Jobs {
    /// Starts it. No job is taken before [`JobsHandle::set_standing`] opens
    /// the node, and none of a class before its probe passed.
    pub fn start<E: Engine>(mut parts: JobsParts<E>) -> JobsHandle {
        let plan = Arc::new(parts.plan.clone());
        let timed = std::mem::take(&mut parts.timed);
        let board = Arc::new(Board::new(unprobed(&plan), timed));
        let slots = Slots::new(&plan);
        let (viewer, view) = Viewer::new(
            (board.clone(), slots.clone()),
            plan.clone(),
            parts.ledger.clone(),
        );
        parts.tasks.spawn(viewer.run(parts.stop.clone()));
        let resender = resender(&parts);
        let context = context(&parts, &board, &resender);
        let (probe, reports) =
            ProbeTask::new(context.clone(), plan.clone(), slots.clone());
        let probe = probe.every(parts.probe_every);
        let asked = probe.asked();
        parts.tasks.spawn(probe.run());
        let shelf = context.shelf.clone();
        let desk = Desk {
            context,
            plan,
            slots,
            memory: parts.memory,
            max_payload: parts.max_payload,
            jobs: parts.requests.0,
            controls: parts.requests.1,
        };
        parts.tasks.spawn(desk.run());
        JobsHandle { board, shelf, resender, view, reports, asked }
    }
}

/// Every class is withdrawn until its probe has passed.
fn unprobed(plan: &JobPlan) -> BTreeMap<RuntimeClass, Reason> {
    let said = "its sandbox was not probed yet";
    let starting = || Reason::new(ReasonCode::Starting, said);
    plan.classes.keys().map(|class| (*class, starting())).collect()
}

/// Starts the task that says exits again.
fn resender<E>(parts: &JobsParts<E>) -> Resender {
    let (resender, requests) = Resender::new();
    let ways = (parts.ledger.clone(), parts.outbox.clone());
    let (clock, jitter) = (parts.clock.clone(), parts.jitter.clone());
    let stop = parts.stop.clone();
    let task = ResendTask::new(requests, ways, clock, jitter, stop);
    parts.tasks.spawn(task.run());
    resender
}

/// Where sandboxes are made; starts the task that removes them.
fn workshop<E: Engine>(parts: &JobsParts<E>) -> EngineWorkshop<E> {
    let (remover, removals) = Remover::new();
    let task = RemoveTask {
        removals,
        remover: remover.clone(),
        engine: parts.engine.clone(),
        node: parts.names.1.clone(),
        records: parts.plan.records.clone(),
        stop: parts.stop.clone(),
    };
    parts.tasks.spawn(task.run());
    EngineWorkshop {
        engine: parts.engine.clone(),
        node: parts.names.1.clone(),
        init: parts.plan.init.clone(),
        records: parts.plan.records.clone(),
        names: parts.sandboxes.clone(),
        remover,
    }
}

/// What all supervisors share.
fn context<E: Engine>(
    parts: &JobsParts<E>,
    board: &Arc<Board>,
    resender: &Resender,
) -> Arc<Context<EngineWorkshop<E>>> {
    Arc::new(Context {
        workshop: workshop(parts),
        clock: parts.clock.clone(),
        outbox: parts.outbox.clone(),
        ledger: parts.ledger.clone(),
        names: parts.names.clone(),
        board: board.clone(),
        shelf: Arc::default(),
        resender: resender.clone(),
        tasks: parts.tasks.clone(),
        stop: parts.stop.clone(),
    })
}

/// What the rest of the daemon holds of its jobs.
#[derive(Clone)]
pub struct JobsHandle {
    board: Arc<Board>,
    shelf: Arc<Shelf>,
    resender: Resender,
    view: watch::Receiver<JobsView>,
    reports: watch::Receiver<Vec<ProbeReport>>,
    asked: Arc<Notify>,
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

    /// The last bytes of a job's output, while that is kept.
    ///
    /// # Errors
    /// When it is not kept, or cannot be read.
    pub fn logs(&self, id: &JobId, most: usize) -> Result<Vec<u8>, LogsError> {
        self.shelf.last(id, most)
    }

    /// Whose job it is or was, while its output is kept.
    pub fn owner(&self, id: &JobId) -> Option<DispatcherId> {
        self.shelf.dispatcher(id)
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

/// Makes a view of whatever changed.
struct Viewer {
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
    fn new(
        (board, slots): (Arc<Board>, Slots),
        plan: Arc<JobPlan>,
        ledger: Ledger,
    ) -> (Self, watch::Receiver<JobsView>) {
        // Before the first view: what changes right after it must be seen.
        let changes = (board.changes(), slots.changes());
        let (shown, seen) = watch::channel(JobsView::default());
        let viewer = Self { board, slots, plan, ledger, changes, shown };
        viewer.shown.send_replace(viewer.view());
        (viewer, seen)
    }

    async fn run(mut self, stop: CancellationToken) {
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
            starts: self.board.starts(),
            ledger: self.ledger.counts(),
            checked: self.board.checked(),
        }
    }
}
