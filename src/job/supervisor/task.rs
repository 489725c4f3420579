use crate::contract::{
    Clock, DispatcherId, Job, JobId, JobPhase, MonoMs, NodeId, Subjects,
};
use crate::job::board::{Board, Order};
use crate::job::frames::Frames;
use crate::job::past::Past;
use crate::job::pump::Pump;
use crate::job::resend::Resender;
use crate::job::sandbox::{Look, Sandbox, Word, Workshop};
use crate::job::shelf::Shelf;
use crate::job::slots::Lease;
use crate::job::step::{
    Conclusion, Event, LastSeen, OpenFault, Phase, Terms, step,
};
use crate::job::view::Used;
use crate::job::{ArtifactPlan, ClassPlan, RunningJob};
use crate::ledger::Ledger;
use crate::link::{Outbox, OutboxClosed};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long a job is not looked at, at most: a time to live counts on a clock
/// that goes on while the machine sleeps, which no timer follows.
const LOOK: Duration = Duration::from_secs(1);

/// What all supervisors share.
pub(crate) struct Context<W> {
    pub(crate) workshop: W,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) outbox: Outbox,
    pub(crate) ledger: Ledger,
    pub(crate) names: (Subjects, NodeId),
    pub(crate) board: Arc<Board>,
    pub(crate) past: Arc<Past>,
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) resender: Resender,
    pub(crate) tasks: TaskTracker,
    /// The daemon goes away at once; jobs are left as they are.
    pub(crate) stop: CancellationToken,
}

/// One admitted job.
pub(crate) struct JobCard {
    pub(crate) job: Job,
    pub(crate) hash: String,
    pub(crate) dispatcher: DispatcherId,
    pub(crate) artifact: ArtifactPlan,
    pub(crate) class: ClassPlan,
    pub(crate) terms: Terms,
    pub(crate) lease: Lease,
}

impl JobCard {
    /// The job as the board lists it.
    pub(crate) fn listed(&self) -> RunningJob {
        RunningJob {
            id: self.job.id.clone(),
            dispatcher: self.dispatcher.clone(),
            class: self.job.class,
            artifact: self.artifact.id.clone(),
            phase: JobPhase::Admitted,
            received: self.terms.received.wall,
            started: None,
            started_mono: None,
            limits: self.job.limits,
            used: Used::default(),
        }
    }
}

type Sending =
    Pin<Box<dyn Future<Output = Result<(), OutboxClosed>> + Send + 'static>>;
pub(super) type Opened<W> = Result<<W as Workshop>::Sandbox, OpenFault>;

/// The task that owns one job.
pub(crate) struct Supervisor<W: Workshop> {
    pub(super) context: Arc<Context<W>>,
    pub(super) job: Job,
    pub(super) hash: String,
    pub(super) dispatcher: DispatcherId,
    pub(super) artifact: ArtifactPlan,
    pub(super) class: ClassPlan,
    pub(super) terms: Terms,
    /// Held until no process of the job is left.
    pub(super) lease: Option<Lease>,
    pub(super) uid: u32,
    pub(super) phase: Phase,
    orders: mpsc::Receiver<Order>,
    pub(super) opening: Option<oneshot::Receiver<Opened<W>>>,
    pub(super) sandbox: Option<W::Sandbox>,
    pub(super) gone: bool,
    pub(super) last: LastSeen,
    pub(super) killing: Option<JoinHandle<()>>,
    pub(super) frames: Frames,
    pub(super) pump: Pump,
    pub(super) sending: Option<Sending>,
    pub(super) conclusion: Option<Conclusion>,
    exit_said: bool,
    looked: MonoMs,
}

/// What a supervisor heard.
enum Input<W: Workshop> {
    Opened(Opened<W>),
    Word(Word),
    Order(Order),
    /// A frame left, or never will: the link ended, and so does the daemon.
    Sent,
    Look,
    Abort,
}

impl<W: Workshop> Supervisor<W> {
    pub(crate) fn new(
        context: Arc<Context<W>>,
        card: JobCard,
        orders: mpsc::Receiver<Order>,
    ) -> Self {
        let whose = (card.job.id.clone(), card.dispatcher.clone());
        let clock = context.clock.clone();
        let frames = Frames::new(context.names.clone(), whose, clock);
        Self {
            looked: context.clock.now().mono,
            context,
            job: card.job,
            hash: card.hash,
            dispatcher: card.dispatcher,
            artifact: card.artifact,
            class: card.class,
            terms: card.terms,
            uid: card.lease.uid(),
            lease: Some(card.lease),
            phase: Phase::Admitted,
            orders,
            opening: None,
            sandbox: None,
            gone: false,
            last: LastSeen::default(),
            killing: None,
            frames,
            pump: Pump::new(),
            sending: None,
            conclusion: None,
            exit_said: false,
        }
    }

    /// Runs the job to its exit.
    pub(super) async fn live(&mut self) {
        self.happen(Event::Begin).await;
        loop {
            self.draw();
            if self.exit_said && self.sending.is_none() {
                return;
            }
            let input = self.gather().await;
            if matches!(input, Input::Abort) {
                return;
            }
            self.handle(input).await;
        }
    }

    pub(super) fn id(&self) -> &JobId {
        &self.job.id
    }

    async fn gather(&mut self) -> Input<W> {
        let wait = self.wait();
        let (opening, sandbox) = (&mut self.opening, &mut self.sandbox);
        let alive = sandbox.is_some() && !self.gone;
        tokio::select! {
            biased; // a flood of output must hide neither orders nor time
            () = self.context.stop.cancelled() => Input::Abort,
            Some(order) = self.orders.recv() => Input::Order(order),
            () = tokio::time::sleep(wait) => Input::Look,
            opened = told(opening), if opening.is_some() => {
                Input::Opened(opened)
            }
            word = heard(sandbox), if alive => Input::Word(word),
            () = finished(&mut self.sending), if self.sending.is_some() => {
                Input::Sent
            }
        }
    }

    async fn handle(&mut self, input: Input<W>) {
        match input {
            Input::Opened(opened) => {
                self.opening = None;
                self.opened(opened).await;
            }
            Input::Word(Word::Started { mono_ms }) => {
                self.happen(Event::Started(MonoMs(mono_ms))).await;
            }
            Input::Word(Word::Output) => self.pump.more(),
            Input::Word(Word::Gone) => self.vanished().await,
            Input::Order(Order::Cancel) => self.happen(Event::Cancel).await,
            Input::Order(Order::Stop) => self.happen(Event::Stop).await,
            Input::Sent => self.sending = None,
            Input::Look => self.look().await,
            Input::Abort => {}
        }
    }

    async fn opened(&mut self, opened: Opened<W>) {
        match opened {
            Ok(sandbox) => {
                self.context.shelf.put(&self.job.id, sandbox.tail());
                self.sandbox = Some(sandbox);
                self.happen(Event::Opened).await;
            }
            Err(fault) => {
                tracing::warn!(?fault, "no sandbox could be made");
                self.happen(Event::NotOpened(fault)).await;
            }
        }
    }

    /// One event: the step, then what it says, in its order.
    pub(super) async fn happen(&mut self, event: Event) {
        let now = self.context.clock.now();
        let next = step(&self.terms, self.phase, event, now);
        let shown = next.phase.shown();
        if shown != self.phase.shown() {
            let board = &self.context.board;
            board.update(&self.job.id, |job| job.phase = shown);
            tracing::debug!(job.phase = shown.as_str(), "the job goes on");
        }
        self.phase = next.phase;
        for effect in next.effects {
            self.act(effect).await;
        }
    }

    /// Looks at the sandbox, and lets time pass.
    async fn look(&mut self) {
        let now = self.context.clock.now();
        self.looked = now.mono;
        let look = self.see(now.mono);
        if let Some(look) = look
            // PID 1 outlives the job by what it takes to write the record.
            && look.processes.is_none_or(|n| n > 1)
        {
            self.pump.alive(now.mono, &look);
        }
        self.happen(Event::Tick(look.and_then(|look| look.cpu))).await;
    }

    /// What the sandbox has used, kept in case PID 1 dies without a word.
    pub(super) fn see(&mut self, now: MonoMs) -> Option<Look> {
        let sandbox = self.sandbox.as_ref().filter(|_| !self.gone)?;
        let look = sandbox.look();
        let ms = |span: Duration| {
            u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
        };
        let last = &mut self.last;
        last.at = now;
        last.cpu_ms = look.cpu.map(ms).or(last.cpu_ms);
        let peak = look.memory_peak.map(|peak| peak.0);
        last.mem_peak_bytes = peak.max(last.mem_peak_bytes);
        last.oom_kills = last.oom_kills.max(look.oom_kills.unwrap_or_default());
        let used = Used {
            cpu_ms: last.cpu_ms,
            mem_peak_bytes: last.mem_peak_bytes,
            output_bytes: self.pump.read_bytes(),
        };
        self.context.board.update(&self.job.id, |job| job.used = used);
        Some(look)
    }

    /// Takes the next frame that is due, if none is on its way.
    fn draw(&mut self) {
        if self.sending.is_some() || self.exit_said {
            return;
        }
        let ring = self.sandbox.as_mut();
        let over = self.phase == Phase::Ended;
        let frames = &mut self.frames;
        let frame = self.pump.next(frames, ring).or_else(|| {
            over.then(|| self.pump.finish(&mut self.frames)).flatten()
        });
        let frame = frame.or_else(|| {
            let exit = self.exit_frame();
            self.exit_said = exit.is_some();
            exit
        });
        if let Some(frame) = frame {
            let outbox = self.context.outbox.clone();
            // Kept over the turns of the loop, so that a job does not lose
            // its place in the queue whenever something else happens.
            self.sending =
                Some(Box::pin(async move { outbox.send(frame).await }));
        }
    }

    /// How long nothing is to be done unless something happens.
    fn wait(&self) -> Duration {
        let now = self.context.clock.now().mono;
        let look = u64::try_from(LOOK.as_millis()).unwrap_or(u64::MAX);
        let mut until = self.looked.0.saturating_add(look);
        if let Phase::Waiting { again_at, .. } = self.phase {
            until = until.min(again_at.0);
        }
        if let Phase::Ending { kill_at, .. } = self.phase {
            until = until.min(kill_at.0);
        }
        // A second that was looked for and not found, as its job has ended,
        // is not looked for at every turn.
        let due = self.pump.next_due().filter(|due| *due > self.looked);
        if let Some(due) = due.filter(|_| !self.gone) {
            until = until.min(due.0);
        }
        Duration::from_millis(until.saturating_sub(now.0))
    }
}

async fn told<T>(
    opening: &mut Option<oneshot::Receiver<Result<T, OpenFault>>>,
) -> Result<T, OpenFault> {
    let died = || OpenFault::Refused("its making was cut off".to_owned());
    match opening {
        Some(opening) => opening.await.unwrap_or_else(|_| Err(died())),
        None => std::future::pending().await,
    }
}

async fn heard<S: Sandbox>(sandbox: &mut Option<S>) -> Word {
    match sandbox {
        Some(sandbox) => sandbox.next().await,
        None => std::future::pending().await,
    }
}

async fn finished(sending: &mut Option<Sending>) {
    match sending {
        Some(sending) => drop(sending.await),
        None => std::future::pending().await,
    }
}
