use super::admission::{
    Admitted, ClassStanding, ControlVerdict, Lookup, NodeView, ReceivedFrame,
    Refusal, Room, Verdict, admit, control,
};
use super::board::Order;
use super::sandbox::Workshop;
use super::slots::{NoSlot, Slots};
use super::step::Terms;
use super::supervisor::{Context, JobCard, Supervisor};
use super::view::RefusalSeen;
use super::{ClassPlan, JobPlan};
use crate::contract::{
    Answer, Bytes, DispatcherId, FaultCode, Job, JobId, Now, Reason,
    RuntimeClass,
};
use crate::ledger::{Admission, LedgerError};
use crate::link::{Received, ReplyTo};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

/// Ended jobs whose last words may wait for the link at once: each keeps a
/// ring of output on the disk, 64 MiB of it at most.
const UNSENT: usize = 64;
/// Orders a supervisor has not read yet: there are two kinds, and the second
/// of a kind changes nothing.
const ORDERS: usize = 4;
/// What an exit has beside its result, and the server's protocol around it.
const AROUND_RESULT: u64 = 4096;

/// Whoever answers requests: one task, so that two requests for the last slot
/// are judged one after the other.
pub(crate) struct Desk<W: Workshop> {
    pub(crate) context: Arc<Context<W>>,
    pub(crate) plan: Arc<JobPlan>,
    pub(crate) slots: Slots,
    /// Opened once nothing of an earlier daemon runs any more.
    pub(crate) cleared: CancellationToken,
    /// Memory that a further job could have, if it is known.
    pub(crate) memory: watch::Receiver<Option<Bytes>>,
    /// The largest message that the server takes now.
    pub(crate) max_payload: Arc<dyn Fn() -> usize + Send + Sync>,
    pub(crate) jobs: mpsc::Receiver<Received>,
    pub(crate) controls: mpsc::Receiver<Received>,
}

impl<W: Workshop> Desk<W> {
    /// Answers until the daemon ends.
    pub(crate) async fn run(mut self) {
        let stop = self.context.stop.clone();
        loop {
            tokio::select! {
                biased; // a flood of jobs must not hide a cancel
                () = stop.cancelled() => return,
                Some(received) = self.controls.recv() => self.control(received),
                Some(received) = self.jobs.recv() => self.job(received),
                else => return,
            }
        }
    }

    fn job(&self, received: Received) {
        let begun = Instant::now();
        let now = self.context.clock.now();
        let verdict = self.judge(&received, now);
        let Received { dispatcher, reply, .. } = received;
        match verdict {
            Verdict::Admit(admitted) => {
                let (seq, id) = (admitted.seq, admitted.job.id.clone());
                match self.take(*admitted, &dispatcher, now) {
                    Ok(()) => {
                        self.ack(reply, seq, id, now);
                        self.context.board.taken(begun.elapsed());
                    }
                    Err(refusal) => {
                        self.refuse(reply, &dispatcher, refusal, now);
                    }
                }
            }
            Verdict::Held { seq, id } => self.ack(reply, seq, id, now),
            Verdict::Ended { seq, id } => self.ended(reply, seq, id, now),
            Verdict::Refuse(said) => {
                self.refuse(reply, &dispatcher, said, now);
            }
        }
    }

    fn judge(&self, received: &Received, now: Now) -> Verdict {
        let board = &self.context.board;
        let classes: BTreeMap<_, _> = self
            .plan
            .classes
            .keys()
            .map(|&class| {
                let withdrawn = board.withdrawn(class);
                let free = self.slots.free(class);
                (class, ClassStanding { withdrawn, free })
            })
            .collect();
        let view = NodeView {
            plan: &self.plan,
            standing: board.standing(),
            classes: &classes,
            room: Room {
                memory: *self.memory.borrow(),
                users: self.slots.free_users(),
                unsent: board.unsent(),
                unsent_most: UNSENT,
            },
            lookup: &|id| self.context.ledger.lookup(id),
            floor: self.context.ledger.floor(),
        };
        let frame = ReceivedFrame {
            dispatcher: &received.dispatcher,
            payload: &received.payload,
            size: received.size,
        };
        admit(&view, &frame, now)
    }

    /// The slot, the place on the board, the row, the task; the answer comes
    /// after.
    fn take(
        &self,
        admitted: Admitted,
        from: &DispatcherId,
        now: Now,
    ) -> Result<(), Refusal> {
        let Admitted { seq, job, artifact, class } = admitted;
        let id = job.id.clone();
        let refused = |(code, message): (FaultCode, String)| Refusal {
            seq,
            id: Some(id.as_str().to_owned()),
            code,
            message,
            reasons: Vec::new(),
        };
        let lease = self.slots.lease(job.class).map_err(|none| {
            refused((FaultCode::NotReady, no_slot(job.class, none)))
        })?;
        let card = JobCard {
            hash: job.hash(),
            dispatcher: from.clone(),
            artifact,
            terms: self.terms(&job, &class, now),
            class,
            lease,
            job,
        };
        let (orders, taken) = mpsc::channel(ORDERS);
        let entered = self.context.board.enter(card.listed(), orders);
        entered.map_err(|(code, why)| {
            let refusal = refused((code, why.text.clone()));
            Refusal { reasons: vec![why], ..refusal }
        })?;
        self.write_row(&card, now).map_err(refused)?;
        self.supervise(card, taken);
        Ok(())
    }

    /// A job without a row is not here.
    fn write_row(
        &self,
        card: &JobCard,
        received: Now,
    ) -> Result<(), (FaultCode, String)> {
        let row = Admission {
            id: card.job.id.clone(),
            dispatcher: card.dispatcher.clone(),
            hash: card.hash.clone(),
            received,
        };
        self.context.ledger.admit(row).map_err(|err| {
            self.context.board.leave(&card.job.id);
            (ledger_code(&err), err.to_string())
        })
    }

    fn supervise(&self, card: JobCard, orders: mpsc::Receiver<Order>) {
        let span = tracing::info_span!(
            "job",
            job.id = %card.job.id,
            job.class = %card.job.class,
            job.dispatcher = %card.dispatcher,
        );
        let job = Supervisor::new(self.context.clone(), card, orders).run();
        self.context.tasks.spawn(job.instrument(span));
    }

    fn terms(&self, job: &Job, class: &ClassPlan, received: Now) -> Terms {
        let payload = u64::try_from((self.max_payload)()).unwrap_or(u64::MAX);
        let fits = payload.saturating_sub(AROUND_RESULT);
        Terms {
            received,
            ttl: job.ttl,
            wall: job.limits.wall,
            cpu: job.limits.cpu,
            grace: self.plan.cancel_grace,
            output: class.caps.output,
            result: Bytes(class.caps.result.0.min(fits)),
        }
    }

    fn control(&self, received: Received) {
        let now = self.context.clock.now();
        let ledger = &self.context.ledger;
        let lookup = |id: &JobId| ledger.lookup(id);
        let Received { dispatcher, payload, reply, .. } = received;
        let known = (&lookup as Lookup<'_>, ledger.floor());
        match control(&dispatcher, &payload, known, now) {
            ControlVerdict::Cancel { seq, id } => {
                // None there means that its exit is written this moment.
                if self.context.board.order(&id, Order::Cancel).is_err() {
                    self.context.resender.now(&id);
                }
                self.ack(reply, seq, id, now);
            }
            ControlVerdict::Ended { seq, id } => {
                self.context.resender.now(&id);
                self.ack(reply, seq, id, now);
            }
            ControlVerdict::Settle { seq, id } => {
                if let Err(err) = ledger.acknowledged(&id, now) {
                    tracing::warn!(error = %err, "not settled");
                }
                self.context.board.touch();
                self.ack(reply, seq, id, now);
            }
            ControlVerdict::Entomb { id, mut refusal } => {
                // The id is only said to be refused for good once it is.
                let row = ledger.cancelled_tombstone(&id, &dispatcher, now);
                if let Err(err) = row {
                    (refusal.code, refusal.message) =
                        (FaultCode::NotReady, err.to_string());
                }
                self.refuse(reply, &dispatcher, refusal, now);
            }
            ControlVerdict::Refuse(mut refusal) => {
                self.doubt(&mut refusal);
                self.refuse(reply, &dispatcher, refusal, now);
            }
        }
    }

    /// A job that is not known here may still run, as an earlier daemon's
    /// that died: until all of those are ended nobody may be told otherwise.
    fn doubt(&self, refusal: &mut Refusal) {
        let unknown = refusal.code == FaultCode::BadValue;
        if unknown && !self.cleared.is_cancelled() {
            refusal.code = FaultCode::NotReady;
            refusal.message = "the jobs of an earlier run of this daemon are \
                 being ended: ask again"
                .to_owned();
        }
    }

    /// The answer to a repeated job that ended is its exit, the same bytes
    /// as ever; where the exit is kept no more, that it was held is all that
    /// can be said.
    fn ended(&self, reply: Option<ReplyTo>, seq: u64, id: JobId, now: Now) {
        self.context.resender.now(&id);
        let row = self.context.ledger.lookup(&id);
        match (reply, row.as_ref().and_then(|row| row.state.exit())) {
            (Some(reply), Some(exit)) => {
                reply.answer(exit.payload.clone(), &exit.reasons);
            }
            (reply, _) => self.ack(reply, seq, id, now),
        }
    }

    fn ack(&self, reply: Option<ReplyTo>, seq: u64, id: JobId, now: Now) {
        let answer = Answer::Ack { seq, ts: now.wall, id };
        tell(reply, &answer, &[]);
    }

    fn refuse(
        &self,
        reply: Option<ReplyTo>,
        from: &DispatcherId,
        refusal: Refusal,
        now: Now,
    ) {
        let seen = RefusalSeen::of(&refusal, from, now.wall);
        self.context.board.refused(seen);
        let Refusal { seq, id, code, message, reasons } = refusal;
        // Kept for status; a line each would let a flood fill the disk.
        tracing::debug!(code = %code, message, "a request is refused");
        let answer = Answer::Nack { seq, ts: now.wall, id, code, message };
        tell(reply, &answer, &reasons);
    }
}

fn tell(reply: Option<ReplyTo>, answer: &Answer, reasons: &[Reason]) {
    if let Some(reply) = reply {
        reply.answer(answer.to_json().into(), reasons);
    }
}

fn no_slot(class: RuntimeClass, none: NoSlot) -> String {
    match none {
        NoSlot::NotConfigured => format!("class {class} is not configured"),
        NoSlot::Taken { slots } => {
            format!("wanted 1 slot of class {class}, free are 0 of {slots}")
        }
        NoSlot::NoUser { users } => {
            format!("wanted 1 user for the job, free are 0 of {users}")
        }
    }
}

fn ledger_code(err: &LedgerError) -> FaultCode {
    match err {
        LedgerError::Full { .. } | LedgerError::TooManyCancels { .. } => {
            FaultCode::NotReady
        }
        LedgerError::Known(_)
        | LedgerError::Unknown(_)
        | LedgerError::BelowFloor { .. }
        | LedgerError::NotNow { .. } => FaultCode::BadValue,
    }
}
