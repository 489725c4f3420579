use super::JobPlan;
use super::board::Board;
use super::desk::Desk;
use super::handle::JobsHandle;
use super::probe::ProbeTask;
use super::resend::{ResendTask, Resender};
use super::sandbox::{
    EngineWorkshop, Ours, RemoveTask, Remover, SandboxNames, SweepTask,
};
use super::slots::Slots;
use super::supervisor::Context;
use super::view::Timed;
use super::viewer::Viewer;
use super::vital::Vital;
use crate::contract::{
    Bytes, Clock, NodeId, Reason, ReasonCode, RuntimeClass, Subjects,
};
use crate::engine::Engine;
use crate::ledger::Ledger;
use crate::link::{Outbox, Received};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

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
    /// Where tasks are started. Its end comes after
    /// [`JobsHandle::shutdown`].
    pub vital: Vital,
}

/// The part of the daemon that runs jobs.
pub struct Jobs;

impl Jobs {
    /// Starts it. No job is taken before [`JobsHandle::set_standing`] opens
    /// the node, and none of a class before its probe passed.
    pub fn start<E: Engine>(parts: JobsParts<E>) -> JobsHandle {
        let plan = Arc::new(parts.plan.clone());
        let board = Arc::new(Board::new(unproven(&plan), parts.timed.clone()));
        let slots = Slots::new(&plan);
        let cleared = CancellationToken::new();
        let remover = parts.removing(&plan, cleared.clone());
        let resender = parts.resending();
        let context = parts.context(&plan, &board, (remover, &resender));
        let (probe, reports) =
            ProbeTask::new(context.clone(), plan.clone(), slots.clone());
        let probe = probe.every(parts.probe_every).after(cleared.clone());
        let asked = probe.asked();
        parts.vital.spawn("probe", probe.run());
        let (viewer, view) =
            Viewer::new((&board, &slots), &plan, &parts.ledger);
        let stop = parts.vital.stop().clone();
        parts.vital.spawn("viewer", viewer.run(stop));
        let (past, shelf) = (context.past.clone(), context.shelf.clone());
        let ledger = parts.ledger;
        let desk = Desk {
            context,
            cleared,
            plan,
            slots,
            memory: parts.memory,
            max_payload: parts.max_payload,
            jobs: parts.requests.0,
            controls: parts.requests.1,
        };
        parts.vital.spawn("desk", desk.run());
        JobsHandle {
            board,
            past,
            ledger,
            shelf,
            resender,
            view,
            reports,
            asked,
        }
    }
}

/// No class is offered before its probe passed.
fn unproven(plan: &JobPlan) -> BTreeMap<RuntimeClass, Reason> {
    let said = "its sandbox was not probed yet";
    let starting = || Reason::new(ReasonCode::Starting, said);
    plan.classes.keys().map(|class| (*class, starting())).collect()
}

impl<E: Engine> JobsParts<E> {
    fn removing(&self, plan: &JobPlan, cleared: CancellationToken) -> Remover {
        let (remover, removals) = Remover::new();
        let ours = Arc::new(Ours {
            engine: self.engine.clone(),
            node: self.names.1.clone(),
            records: plan.records.clone(),
        });
        let sweep = SweepTask {
            ours: ours.clone(),
            remover: remover.clone(),
            tasks: self.vital.tasks().clone(),
            cleared,
            stop: self.vital.stop().clone(),
        };
        self.vital.spawn("sweep", sweep.run());
        let remove =
            RemoveTask { removals, ours, stop: self.vital.stop().clone() };
        self.vital.spawn("removals", remove.run());
        remover
    }

    fn resending(&self) -> Resender {
        let (resender, requests) = Resender::new();
        let ways = (self.ledger.clone(), self.outbox.clone());
        let (clock, jitter) = (self.clock.clone(), self.jitter.clone());
        let stop = self.vital.stop().clone();
        let task = ResendTask::new(requests, ways, clock, jitter, stop);
        self.vital.spawn("resends", task.run());
        resender
    }

    fn context(
        &self,
        plan: &JobPlan,
        board: &Arc<Board>,
        (remover, resender): (Remover, &Resender),
    ) -> Arc<Context<EngineWorkshop<E>>> {
        let workshop = EngineWorkshop {
            engine: self.engine.clone(),
            node: self.names.1.clone(),
            init: plan.init.clone(),
            records: plan.records.clone(),
            names: self.sandboxes.clone(),
            remover,
            tasks: self.vital.tasks().clone(),
        };
        Arc::new(Context {
            workshop,
            clock: self.clock.clone(),
            outbox: self.outbox.clone(),
            ledger: self.ledger.clone(),
            names: self.names.clone(),
            board: board.clone(),
            past: Arc::default(),
            shelf: Arc::default(),
            resender: resender.clone(),
            tasks: self.vital.tasks().clone(),
            stop: self.vital.stop().clone(),
        })
    }
}
