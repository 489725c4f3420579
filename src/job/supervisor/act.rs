use super::task::Supervisor;
use crate::contract::{Exit, JobEvent};
use crate::init::Identity;
use crate::job::EndedJob;
use crate::job::sandbox::{Sandbox, Wish, Workshop, orders};
use crate::job::step::{Conclusion, Effect, End, Event, Exec};
use crate::ledger::StoredExit;
use crate::link::Outgoing;
use std::time::Duration;
use tokio::sync::oneshot;

impl<W: Workshop> Supervisor<W> {
    /// Does one thing that a step said.
    pub(super) async fn act(&mut self, effect: Effect) {
        match effect {
            Effect::Open => self.open(),
            Effect::Abandon => {
                // Whoever makes it finds nobody waiting, and removes it.
                self.opening = None;
                self.sandbox = None;
            }
            Effect::Order => self.order().await,
            Effect::SayStarted(exec) => self.say_started(exec),
            Effect::Term => {
                if let Some(sandbox) = &mut self.sandbox {
                    sandbox.term(self.terms.grace).await;
                }
            }
            Effect::Kill => self.kill(),
            Effect::Conclude(conclusion) => self.conclude(*conclusion),
            Effect::Refused(event) => {
                tracing::warn!(event, "an event does not belong here");
            }
        }
    }

    /// Has a sandbox made by a task of its own, which holds the slot too: a
    /// job that ends meanwhile frees it only when nothing is left behind.
    fn open(&mut self) {
        let (tell, told) = oneshot::channel();
        let wish = Wish {
            class: self.job.class,
            plan: self.class.clone(),
            artifact: self.artifact.clone(),
            uid: self.uid,
            memory: self.job.limits.memory,
        };
        let (context, lease) = (self.context.clone(), self.lease.clone());
        self.context.tasks.spawn(async move {
            let opened = context.workshop.open(wish).await;
            // Refused by a job that is over: dropped, and so removed.
            drop(tell.send(opened));
            drop(lease);
        });
        self.opening = Some(told);
    }

    async fn order(&mut self) {
        let Some(sandbox) = &mut self.sandbox else { return };
        let env = sandbox.image_env().clone();
        let with = (self.uid, &self.class.caps, &env);
        let orders = orders(&self.job, &self.artifact, &self.terms, with);
        let identity = Identity {
            job: self.job.id.as_str().to_owned(),
            dispatcher: self.dispatcher.as_str().to_owned(),
            hash: self.hash.clone(),
        };
        if let Err(said) = sandbox.order(identity, orders).await {
            // PID 1 may have read them: the job must not run elsewhere too,
            // so this sandbox ends and its record decides.
            tracing::warn!(error = %said, "orders were not handed over");
            self.kill();
        }
    }

    fn say_started(&mut self, exec: Exec) {
        let now = self.context.clock.now().mono;
        let cpu = self.see(now).and_then(|look| look.cpu);
        self.pump.started(exec, cpu);
        let board = &self.context.board;
        board.update(self.id(), |job| {
            job.started = Some(exec.wall);
            job.started_mono = Some(exec.mono);
        });
        let received = self.terms.received.mono.0;
        let took = exec.mono.0.saturating_sub(received);
        board.started(self.job.class, Duration::from_millis(took));
    }

    fn kill(&mut self) {
        let busy = self.killing.as_ref().is_some_and(|k| !k.is_finished());
        let Some(sandbox) = self.sandbox.as_ref().filter(|_| !busy) else {
            return;
        };
        let kill = sandbox.kill();
        self.killing = Some(self.context.tasks.spawn(kill));
    }

    /// PID 1 is gone, and every process with it: the slot is free, whatever
    /// becomes of the container.
    pub(super) async fn vanished(&mut self) {
        let now = self.context.clock.now().mono;
        let alive_at = self.last.at;
        self.see(now);
        self.last.at = alive_at; // it was not seen alive just now
        self.gone = true;
        self.lease = None;
        let Some(sandbox) = &mut self.sandbox else { return };
        let record = sandbox.end().unwrap_or_else(|said| {
            tracing::warn!(error = %said, "the exit record is of no use");
            None
        });
        sandbox.release();
        let end = End { record, last: self.last };
        self.happen(Event::Gone(Box::new(end))).await;
    }

    pub(super) fn conclude(&mut self, mut conclusion: Conclusion) {
        self.lease = None;
        let usage = &mut conclusion.exit.usage;
        usage.wall_ms = self.pump.ended(usage.wall_ms);
        self.conclusion = Some(conclusion);
    }

    /// The exit: its row first. All that comes before it has been drawn.
    pub(super) fn exit_frame(&mut self) -> Option<Outgoing> {
        let Conclusion { exit, mut reasons } = self.conclusion.take()?;
        reasons.extend(self.pump.reasons());
        let Exit { reason, code, usage, .. } = exit;
        let now = self.context.clock.now().wall;
        let frame = self.frames.make(JobEvent::Exit(exit), reasons);
        let stored = StoredExit {
            subject: frame.subject.clone(),
            payload: frame.payload.clone(),
            reasons: frame.reasons.clone(),
            at: now,
        };
        if let Err(err) = self.context.ledger.ended(&self.job.id, stored) {
            tracing::error!(error = %err, "the exit row was not written");
        }
        if let Some(job) = self.context.board.job(&self.job.id) {
            let (reasons, at) = (frame.reasons.clone(), now);
            let acked = false;
            let ended =
                EndedJob { job, reason, code, usage, reasons, at, acked };
            self.context.past.keep(ended);
        }
        self.context.board.ended(reason);
        self.context.shelf.ended(&self.job.id);
        self.context.resender.add(&self.job.id);
        tracing::info!(job.reason = %reason, "the job ended");
        Some(frame)
    }
}
