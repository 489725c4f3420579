//! A job's life over a sandbox of memory, its time paused.
mod guard; // where the daemon is at fault
mod output; // what a job wrote
mod starts; // before its exec
use super::*;
use crate::contract::{
    BootMs, Bytes, Clock, ExitReason, Job, JobEvent, JobFrame, MonoMs, Now,
    ReasonCode, RuntimeClass, Subjects, Timestamp,
};
use crate::init::{EndedBy, ExitRecord, Outcome};
use crate::job::board::{Board, Order};
use crate::job::resend::Resender;
use crate::job::sandbox::fake::{FakeWorkshop, Handle, Making};
use crate::job::sandbox::{Look, Word};
use crate::job::shelf::Shelf;
use crate::job::slots::Slots;
use crate::job::step::{OpenFault, Terms};
use crate::job::testing::{START, dispatcher, job_id, plan};
use crate::ledger::{Admission, Ledger, RowState};
use crate::link::{Outgoing, outbox};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A clock that goes with the paused time of a test.
struct TestClock(Instant);

impl Clock for TestClock {
    fn now(&self) -> Now {
        let ms = u64::try_from(self.0.elapsed().as_millis()).unwrap();
        Now {
            wall: Timestamp(START + ms),
            mono: MonoMs(10_000 + ms),
            boot: BootMs(20_000 + ms),
        }
    }
}

/// One job under supervision, and everything around it.
struct Stage {
    context: Arc<Context<FakeWorkshop>>,
    workshop: FakeWorkshop,
    slots: Slots,
    orders: mpsc::Sender<Order>,
    frames: mpsc::Receiver<Outgoing>,
    job: Job,
}

impl Stage {
    fn new(workshop: FakeWorkshop) -> Self {
        let (out, frames, _answers) = outbox();
        let clock: Arc<dyn Clock> = Arc::new(TestClock(Instant::now()));
        let ledger = Ledger::in_memory(Timestamp(START - 1));
        let (resender, _requests) = Resender::new();
        let token = |name: &str| name.to_owned().try_into().unwrap();
        let context = Arc::new(Context {
            workshop: workshop.clone(),
            clock: clock.clone(),
            outbox: out,
            ledger: ledger.clone(),
            names: (Subjects::new(token("ov")), token("node_1")),
            board: Arc::new(Board::new(
                BTreeMap::new(),
                crate::job::Timed::default(),
            )),
            past: Arc::default(),
            shelf: Arc::new(Shelf::default()),
            resender,
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
        });
        let (orders, taken) = mpsc::channel(4);
        let slots = Slots::new(&plan(1));
        let job = echo_job();
        let received = clock.now();
        let admission = Admission {
            id: job.id.clone(),
            dispatcher: dispatcher("alice"),
            hash: job.hash(),
            received,
        };
        ledger.admit(admission).unwrap();
        let card = card(&job, received, &slots);
        context.board.enter(card.listed(), orders.clone()).unwrap();
        let supervisor = Supervisor::new(context.clone(), card, taken);
        context.tasks.spawn(supervisor.run());
        Self { context, workshop, slots, orders, frames, job }
    }

    async fn frame(&mut self) -> (JobFrame, Outgoing) {
        let out = self.frames.recv().await.unwrap();
        (JobFrame::parse(&out.payload).unwrap(), out)
    }

    /// Every frame up to the exit, and the exit's own message.
    async fn story(&mut self) -> (Vec<JobFrame>, Outgoing) {
        let mut story = Vec::new();
        loop {
            let (frame, out) = self.frame().await;
            let over = matches!(frame.event, JobEvent::Exit(_));
            story.push(frame);
            if over {
                return (story, out);
            }
        }
    }

    /// A sandbox that has its orders and runs since now.
    async fn running(&mut self) -> Handle {
        let sandbox = self.workshop.sandbox(0).await;
        sandbox.until(|inside| inside.ordered.len() == 1).await;
        let mono_ms = self.context.clock.now().mono.0;
        sandbox.says(Word::Started { mono_ms }).await;
        let (frame, _) = self.frame().await;
        assert!(matches!(frame.event, JobEvent::Started { .. }));
        sandbox
    }

    fn record(&self, outcome: Outcome, by: EndedBy, ran: u64) -> ExitRecord {
        let now = self.context.clock.now();
        ExitRecord {
            outcome,
            ended_by: by,
            started_mono_ms: Some(now.mono.0 - ran),
            started_boot_ms: Some(now.boot.0 - ran),
            ended_mono_ms: now.mono.0,
            ended_boot_ms: now.boot.0,
            cpu_ms: Some(3),
            mem_peak_bytes: Some(1),
            oom_kills: Some(0),
            stdout_end: 0,
            result_bytes: 0,
        }
    }

    fn is_held(&self) -> bool {
        let row = self.context.ledger.lookup(&self.job.id).unwrap();
        row.state == RowState::Held
    }

    fn free(&self) -> u32 {
        self.slots.free(RuntimeClass::Function)
    }
}

fn echo_job() -> Job {
    let job = json!({
        "id": job_id(0, 1), "class": "function",
        "artifact": {"name": "echo", "version": "1.0.0"},
        "args": {"n": 1}, "ttl_ms": 60_000,
        "limits": {
            "wall_ms": 10_000, "cpu_ms": 10_000, "mem_bytes": 1 << 26,
        },
    });
    Job::parse(&job).unwrap()
}

fn card(job: &Job, received: Now, slots: &Slots) -> JobCard {
    let plan = plan(1);
    let class = plan.classes[&RuntimeClass::Function].clone();
    JobCard {
        job: job.clone(),
        hash: job.hash(),
        dispatcher: dispatcher("alice"),
        artifact: plan.artifacts[0].clone(),
        terms: Terms {
            received,
            ttl: job.ttl,
            wall: job.limits.wall,
            cpu: job.limits.cpu,
            grace: Duration::from_secs(5),
            output: class.caps.output,
            result: Bytes::kib(256),
        },
        class,
        lease: slots.lease(RuntimeClass::Function).unwrap(),
    }
}

fn reason(frame: &JobFrame) -> ExitReason {
    match &frame.event {
        JobEvent::Exit(exit) => exit.reason,
        JobEvent::Started { .. }
        | JobEvent::Stdout { .. }
        | JobEvent::Usage { .. } => panic!("not an exit: {frame:?}"),
    }
}

fn output(story: &[JobFrame]) -> String {
    let texts = story.iter().filter_map(|frame| match &frame.event {
        JobEvent::Stdout { chunk, .. } => Some(chunk.as_str()),
        JobEvent::Started { .. }
        | JobEvent::Usage { .. }
        | JobEvent::Exit(_) => None,
    });
    texts.collect()
}

fn seconds(story: &[JobFrame]) -> Vec<u64> {
    let all = story.iter().filter_map(|frame| match &frame.event {
        JobEvent::Usage { second, .. } => Some(*second),
        JobEvent::Started { .. }
        | JobEvent::Stdout { .. }
        | JobEvent::Exit(_) => None,
    });
    all.collect()
}

#[tokio::test(start_paused = true)]
async fn a_job_is_told_from_its_start_to_its_exit_in_order() {
    let mut stage = Stage::new(FakeWorkshop::default());
    let sandbox = stage.running().await;
    let (identity, orders) = sandbox.inside().ordered[0].clone();
    assert_eq!(identity.hash, stage.job.hash());
    assert_eq!(orders.stdin, "{\"n\":1}\n");
    assert_eq!(orders.env["OV_JOB_ID"], stage.job.id.as_str());
    sandbox.writes(b"hello ").await;
    sandbox.writes("wörld".as_bytes()).await;
    tokio::time::sleep(Duration::from_millis(2_300)).await;
    let ended = stage.record(Outcome::Exited(0), EndedBy::Program, 2_300);
    let ended = ExitRecord { result_bytes: 2, ..ended };
    sandbox.ends(ended, b"42").await;
    let (story, _) = stage.story().await;
    assert_eq!(output(&story), "hello wörld");
    assert_eq!(seconds(&story), [0, 1]);
    let JobEvent::Exit(exit) = &story.last().unwrap().event else { panic!() };
    assert_eq!((exit.code, &exit.result), (Some(0), &json!(42)));
    assert_eq!(exit.usage.wall_ms, 2_300);
    let seqs: Vec<_> = story.iter().map(|frame| frame.seq).collect();
    assert!(seqs.is_sorted() && seqs[0] == 2);
    assert!(!stage.is_held());
    assert_eq!(stage.free(), 1);
    assert!(sandbox.inside().released);
}

#[tokio::test(start_paused = true)]
async fn a_deaf_pid_1_is_killed_from_outside_until_it_is_gone() {
    let mut stage = Stage::new(FakeWorkshop::default());
    let sandbox = stage.running().await;
    let began = Instant::now();
    stage.orders.send(Order::Cancel).await.unwrap();
    sandbox.until(|inside| inside.kills == 1).await;
    assert_eq!(began.elapsed().as_secs(), 6); // 5 s grace, 1 s for PID 1
    sandbox.until(|inside| inside.kills == 3).await;
    assert_eq!(stage.free(), 0);
    sandbox.says(Word::Gone).await;
    let (story, _) = stage.story().await;
    assert_eq!(reason(story.last().unwrap()), ExitReason::Cancelled);
    assert_eq!(sandbox.inside().terms, 1);
}

#[tokio::test(start_paused = true)]
async fn a_wall_limit_is_enforced_when_pid_1_does_not() {
    let mut stage = Stage::new(FakeWorkshop::default());
    let sandbox = stage.running().await;
    sandbox.until(|inside| inside.terms == 1).await;
    let ended = stage.record(Outcome::Signalled(15), EndedBy::Cancel, 11_000);
    sandbox.ends(ended, b"").await;
    let (story, exit) = stage.story().await;
    assert_eq!(reason(story.last().unwrap()), ExitReason::Limit);
    assert_eq!(exit.reasons[0].code, ReasonCode::LimitReached);
    assert_eq!(seconds(&story), Vec::from_iter(0..11));
}

#[tokio::test(start_paused = true)]
async fn a_sandbox_that_vanishes_is_judged_by_the_last_look() {
    let mut stage = Stage::new(FakeWorkshop::default());
    let sandbox = stage.running().await;
    sandbox.inside().look = Look {
        cpu: Some(Duration::from_millis(700)),
        memory_peak: Some(Bytes(9)),
        oom_kills: Some(1),
        processes: Some(3),
    };
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    sandbox.says(Word::Gone).await;
    let (story, exit) = stage.story().await;
    let JobEvent::Exit(said) = &story.last().unwrap().event else { panic!() };
    assert_eq!(said.reason, ExitReason::Limit);
    assert_eq!(said.usage.wall_ms, 1_000);
    assert_eq!(said.usage.cpu_ms, Some(700));
    assert_eq!(exit.reasons[0].code, ReasonCode::OomKill);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_has_ended_but_for_its_record_is_not_looked_at_all_the_time()
{
    let mut stage = Stage::new(FakeWorkshop::default());
    let sandbox = stage.running().await;
    sandbox.inside().look = Look { processes: Some(1), ..Look::default() };
    tokio::time::sleep(Duration::from_millis(5_500)).await;
    let looks = sandbox.inside().looks;
    assert!((5..20).contains(&looks), "{looks} looks");
}
