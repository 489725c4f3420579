use super::judge::{ProbeReport, Promise};
use super::run::Probe;
use crate::contract::{Reason, ReasonCode, RuntimeClass};
use crate::engine::{Engine, EngineError};
use crate::job::sandbox::EngineWorkshop;
use crate::job::slots::Slots;
use crate::job::supervisor::Context;
use crate::job::{ClassPlan, JobPlan};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

/// What did not pass is tried sooner: an image may be built, an engine come
/// back.
const FAILED: Duration = Duration::from_secs(30);
/// At the very start an engine may be a moment behind us.
const EARLY: Duration = Duration::from_secs(5);
const EARLY_TRIES: u32 = 6;

/// Offers and withdraws classes by what their probes find.
pub(crate) struct ProbeTask<E: Engine> {
    context: Arc<Context<EngineWorkshop<E>>>,
    plan: Arc<JobPlan>,
    slots: Slots,
    reports: watch::Sender<Vec<ProbeReport>>,
    asked: Arc<Notify>,
    /// What passed is tried again so often: an engine or a kernel that
    /// changed under us is found before many jobs are.
    passed: Duration,
    /// Opened once nothing of an earlier daemon runs any more.
    cleared: CancellationToken,
}

impl<E: Engine> ProbeTask<E> {
    pub(crate) fn new(
        context: Arc<Context<EngineWorkshop<E>>>,
        plan: Arc<JobPlan>,
        slots: Slots,
    ) -> (Self, watch::Receiver<Vec<ProbeReport>>) {
        let (reports, seen) = watch::channel(Vec::new());
        let asked = Arc::default();
        let passed = Duration::from_secs(600);
        let cleared = CancellationToken::new();
        let task =
            Self { context, plan, slots, reports, asked, passed, cleared };
        (task, seen)
    }

    /// The same, with another pause between probes that pass.
    pub(crate) fn every(self, passed: Duration) -> Self {
        Self { passed, ..self }
    }

    /// The same, but no class is probed, nor offered, before this is opened.
    pub(crate) fn after(self, cleared: CancellationToken) -> Self {
        Self { cleared, ..self }
    }

    /// Rung by whoever wants a probe now.
    pub(crate) fn asked(&self) -> Arc<Notify> {
        self.asked.clone()
    }

    pub(crate) async fn run(self) {
        let stop = self.context.stop.clone();
        let cleared = self.cleared.cancelled();
        if stop.run_until_cancelled(cleared).await.is_none() {
            return;
        }
        let mut tries = 0;
        loop {
            let passed = tokio::select! {
                () = stop.cancelled() => return,
                passed = self.probe_all() => passed,
            };
            tries += 1;
            let pause = match passed {
                true => self.passed,
                false if tries < EARLY_TRIES => EARLY,
                false => FAILED,
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.asked.notified() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    async fn probe_all(&self) -> bool {
        let mut passed = true;
        for (class, plan) in &self.plan.classes {
            // A node whose users are all taken runs jobs well enough: what
            // was found of the class before stands, until one is free.
            let Ok(user) = self.slots.user() else {
                passed &= self.context.board.withdrawn(*class).is_none();
                continue;
            };
            let why_not = self.probe(*class, plan, user.uid()).await;
            passed &= why_not.is_none();
            if let Some(why) = &why_not {
                tracing::warn!(%class, reason = %why, "a class is withdrawn");
            }
            let at = self.context.clock.now().wall;
            self.context.board.probed(*class, why_not, at);
        }
        passed
    }

    /// Why the class must not be offered now, if so.
    async fn probe(
        &self,
        class: RuntimeClass,
        plan: &ClassPlan,
        uid: u32,
    ) -> Option<Reason> {
        if let Some(reason) = self.missing(plan).await {
            self.file(ProbeReport {
                class,
                at: self.context.clock.now().wall,
                promises: vec![Promise {
                    what: "engine and image are there".to_owned(),
                    broken: Some(reason.text.clone()),
                }],
            });
            return Some(reason);
        }
        let probe = Probe {
            workshop: &self.context.workshop,
            clock: &*self.context.clock,
            class,
            plan,
            uid,
        };
        let report = probe.run().await;
        let complaint = report.complaint();
        self.file(report);
        complaint.map(|said| Reason::new(ReasonCode::ProbeFailed, said))
    }

    /// What has a reason of its own: no engine, or no image.
    async fn missing(&self, plan: &ClassPlan) -> Option<Reason> {
        match self.context.workshop.engine.image(&plan.image).await {
            Ok(Some(_)) => None,
            Ok(None) => {
                let image = &plan.image;
                let said = format!("image `{image}` is not on this machine");
                Some(Reason::new(ReasonCode::ImageMissing, said))
            }
            Err(err @ EngineError::Away { .. }) => {
                Some(Reason::new(ReasonCode::EngineAway, err.to_string()))
            }
            Err(err) => {
                Some(Reason::new(ReasonCode::ProbeFailed, err.to_string()))
            }
        }
    }

    fn file(&self, report: ProbeReport) {
        self.reports.send_modify(|reports| {
            reports.retain(|old| old.class != report.class);
            reports.push(report);
            reports.sort_by_key(|report| report.class);
        });
    }
}
