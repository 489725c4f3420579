//! Jobs over a real engine, without NATS: requests go in by the queues that
//! the link's reader fills, frames are taken from its outbox.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail as tests do: at once and loudly"
)]

use ovnode::contract::{
    BootMs, Bytes, Clock, ExitReason, JobEvent, JobFrame, JobPhase, MilliCores,
    MonoMs, NetPolicy, Now, ReasonCode as Why, RuntimeClass, Subjects,
    Timestamp,
};
use ovnode::engine::{Docker, SandboxId};
use ovnode::job::{
    ArtifactPlan, ArtifactSource, Caps, ClassPlan, JobPlan, Jobs, JobsHandle,
    JobsParts, ProbeReport, Standing, Timed, Vital,
};
use ovnode::ledger::Ledger;
use ovnode::link::{Outgoing, Received, outbox};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

const CLASS: RuntimeClass = RuntimeClass::Function;
/// What every wait here ends with, however slow the machine.
const SOON: Duration = Duration::from_secs(60);

struct KernelClock;

impl Clock for KernelClock {
    fn now(&self) -> Now {
        use rustix::time::{ClockId, clock_gettime};
        let ms = |id| {
            let now = clock_gettime(id);
            let (s, ns) = (now.tv_sec.cast_unsigned(), now.tv_nsec);
            s * 1000 + ns.cast_unsigned() / 1_000_000
        };
        Now {
            wall: Timestamp(ms(ClockId::Realtime)),
            mono: MonoMs(ms(ClockId::Monotonic)),
            boot: BootMs(ms(ClockId::Boottime)),
        }
    }
}

/// A node's jobs, and the two ends of its link.
struct Node {
    jobs: JobsHandle,
    /// Of jobs, and of cancels and acknowledgements.
    ends: (mpsc::Sender<Received>, mpsc::Sender<Received>),
    frames: mpsc::Receiver<Outgoing>,
    tasks: TaskTracker,
    stop: CancellationToken,
    name: String,
    root: tempfile::TempDir,
}

/// What an exit's headers say, in codes.
trait Codes {
    fn codes(&self) -> Vec<Why>;
}

impl Codes for Outgoing {
    fn codes(&self) -> Vec<Why> {
        self.reasons.iter().map(|reason| reason.code).collect()
    }
}

fn crockford(value: u64, width: u32) -> String {
    const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let digit = |at| {
        let five = usize::try_from(value.checked_shr(5 * at).unwrap_or(0) & 31)
            .unwrap();
        char::from(DIGITS[five])
    };
    (0..width).rev().map(digit).collect()
}

/// Never the same twice in this process.
fn ulid() -> String {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let n = MADE.fetch_add(1, Ordering::Relaxed);
    crockford(KernelClock.now().wall.0, 10) + &crockford(n, 16)
}

fn sandbox_name() -> SandboxId {
    SandboxId(format!("sb_{}", ulid()))
}

fn plan(root: &Path, artifacts: Vec<ArtifactPlan>) -> JobPlan {
    let class = ClassPlan {
        image: "ovnode/function:1".to_owned(),
        slots: 2,
        cpu: MilliCores(1000),
        memory: Bytes::mib(64),
        pids: 64,
        scratch: Bytes::mib(16),
        shm: Bytes::mib(4),
        caps: Caps {
            wall: Duration::from_secs(60),
            cpu: Duration::from_secs(60),
            ttl: Duration::from_secs(600),
            output: Bytes::mib(8),
            result: Bytes::kib(256),
            open_files: 256,
        },
    };
    let init = Path::new(env!("CARGO_MANIFEST_DIR"));
    JobPlan {
        classes: [(CLASS, class)].into(),
        artifacts,
        net: NetPolicy::Deny,
        cancel_grace: Duration::from_secs(2),
        uids: 20_000..20_004,
        init: init.join("target/init/ovnode-init"),
        records: root.join("records"),
    }
}

/// An artifact that is one shell script.
fn script(name: &str, text: &str) -> ArtifactPlan {
    let command = ["/bin/sh", "-c", text].map(str::to_owned).to_vec();
    ArtifactPlan {
        id: ovnode::contract::ArtifactRef::new(name, "1").unwrap(),
        class: CLASS,
        source: ArtifactSource::Image("ovnode/function:1".to_owned()),
        command,
        env: Default::default(),
        stream_stderr: false,
    }
}

impl Node {
    async fn start(artifacts: Vec<ArtifactPlan>) -> Self {
        static NODES: AtomicU64 = AtomicU64::new(0);
        let nth = NODES.fetch_add(1, Ordering::Relaxed);
        let root = tempfile::tempdir().unwrap();
        let (out, frames, _answers) = outbox();
        let (requests, jobs) = mpsc::channel(64);
        let (controls, control) = mpsc::channel(64);
        let made = KernelClock.now().wall.0;
        let name = format!("node_test_{made}_{nth}");
        let token = |text: &str| text.to_owned().try_into().unwrap();
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let socket = Path::new("/var/run/docker.sock");
        let jobs = Jobs::start(JobsParts {
            timed: Timed::default(),
            probe_every: Duration::from_secs(600),
            plan: plan(root.path(), artifacts),
            names: (Subjects::new(token("ov")), token(&name)),
            engine: Arc::new(Docker::connect(socket)),
            ledger: Ledger::in_memory(Timestamp(made - 1)),
            outbox: out,
            requests: (jobs, control),
            clock: Arc::new(KernelClock),
            sandboxes: Arc::new(sandbox_name),
            jitter: Arc::new(|| 0.5),
            max_payload: Arc::new(|| 1 << 20),
            memory: watch::channel(None).1,
            vital: Vital::new(tasks.clone(), stop.clone()),
        });
        jobs.set_standing(Standing::Open);
        let ends = (requests, controls);
        let node = Self { jobs, ends, frames, tasks, stop, name, root };
        node.offered().await;
        node
    }

    /// Waits until the class is offered, and says why if it is not.
    async fn offered(&self) {
        let mut view = self.jobs.view();
        let offered = view.wait_for(|view| {
            view.classes.iter().all(|class| class.withdrawn.is_none())
        });
        let offered = tokio::time::timeout(SOON, offered).await.is_ok();
        let reports = self.jobs.reports().borrow().clone();
        let why = reports.iter().filter_map(ProbeReport::complaint);
        assert!(offered, "not offered: {:#?}", why.collect::<Vec<_>>());
    }

    async fn submits(
        &self,
        artifact: &str,
        limits: serde_json::Value,
    ) -> String {
        let id = format!("job_{}", ulid());
        let job = json!({"v": 1, "seq": 1, "ts": 1, "type": "job", "job": {
            "id": id, "class": "function", "args": {"n": 1},
            "artifact": {"name": artifact, "version": "1"},
            "ttl_ms": 60_000, "limits": limits,
        }});
        self.ends.0.send(received(&job)).await.unwrap();
        id
    }

    async fn runs(&self, id: &str) {
        let mut view = self.jobs.view();
        let up = view.wait_for(|view| {
            let mut jobs = view.jobs.iter();
            jobs.any(|job| {
                job.id.as_str() == id && job.phase == JobPhase::Running
            })
        });
        drop(tokio::time::timeout(SOON, up).await.expect("it never ran"));
    }

    async fn says(&self, what: &str, id: &str) {
        let frame = json!({"v": 1, "seq": 1, "ts": 1, "type": what, "id": id});
        self.ends.1.send(received(&frame)).await.unwrap();
    }

    /// One job's frames up to its first exit; others' repeats are skipped.
    async fn story(&mut self, id: &str) -> (Vec<JobFrame>, Outgoing) {
        let mut story = Vec::new();
        loop {
            let next = tokio::time::timeout(SOON, self.frames.recv());
            let out = next.await.expect("no frame in time").unwrap();
            let frame = JobFrame::parse(&out.payload).unwrap();
            if frame.id.as_str() != id {
                continue;
            }
            let over = matches!(frame.event, JobEvent::Exit(_));
            story.push(frame);
            if over {
                return (story, out);
            }
        }
    }

    async fn ends(self) -> PathBuf {
        self.jobs.shutdown(SOON).await.unwrap();
        self.stop.cancel();
        self.tasks.close();
        tokio::time::timeout(SOON, self.tasks.wait()).await.unwrap();
        self.root.path().join("records")
    }
}

fn received(frame: &serde_json::Value) -> Received {
    let payload = frame.to_string();
    Received {
        dispatcher: "alice".to_owned().try_into().unwrap(),
        subject: "ov.node.n.in.alice".to_owned(),
        headers: vec![],
        size: payload.len(),
        payload: payload.into(),
        reply: None,
    }
}

fn limits() -> serde_json::Value {
    json!({"wall_ms": 30_000, "cpu_ms": 30_000, "mem_bytes": 32 << 20})
}

fn exit(story: &[JobFrame]) -> ovnode::contract::Exit {
    match &story.last().unwrap().event {
        JobEvent::Exit(exit) => exit.clone(),
        JobEvent::Started { .. }
        | JobEvent::Stdout { .. }
        | JobEvent::Usage { .. } => panic!("{story:?} ends without an exit"),
    }
}

fn output(story: &[JobFrame]) -> String {
    let text = |frame: &JobFrame| match &frame.event {
        JobEvent::Stdout { chunk, .. } => Some(chunk.clone()),
        JobEvent::Started { .. }
        | JobEvent::Usage { .. }
        | JobEvent::Exit(_) => None,
    };
    story.iter().filter_map(text).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_runs_from_its_request_to_its_acknowledged_exit() {
    let text = "read args; echo \"got $args\"; echo err >&2; \
                printf '{\"ok\":[1,2]}' >&3; sleep 1.2";
    let mut node = Node::start(vec![script("echo", text)]).await;
    let report = node.jobs.reports().borrow()[0].clone();
    assert!(report.passed(), "{report:#?}");
    let id = node.submits("echo", limits()).await;
    let (story, _) = node.story(&id).await;
    let exit = exit(&story);
    assert_eq!(exit.reason, ExitReason::Exited, "{exit:?}");
    assert_eq!((exit.code, exit.result), (Some(0), json!({"ok": [1, 2]})));
    assert_eq!(output(&story), "got {\"n\":1}\n");
    assert!((1_200..10_000).contains(&exit.usage.wall_ms));
    let seconds = story
        .iter()
        .filter(|frame| matches!(frame.event, JobEvent::Usage { .. }));
    assert_eq!(seconds.count() as u64, exit.usage.wall_ms / 1000);
    assert!(exit.usage.cpu_ms.is_some());
    // Not acknowledged: the same bytes come again.
    let (again, _) = node.story(&id).await;
    assert_eq!(again.last(), story.last());
    node.says("job_exit_ack", &id).await;
    let mut view = node.jobs.view();
    let settled = view.wait_for(|view| view.ledger.settled == 1);
    drop(tokio::time::timeout(SOON, settled).await.expect("not settled"));
    let id = id.try_into().unwrap();
    let kept = node.jobs.logs(&id, 7).unwrap();
    assert_eq!((kept.start, kept.end), (5, 12));
    assert_eq!(kept.bytes, b"\"n\":1}\n");
    node.ends().await;
}

fn sleepers() -> Vec<ArtifactPlan> {
    vec![
        script("sleep", "echo up; sleep 60"),
        script("deaf", "trap '' TERM; echo up; while :; do sleep 1; done"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn every_way_to_end_has_its_reason() {
    use ExitReason::{Exited, Failed, Limit};
    let greedy = "perl -e '$x = \"y\" x (1 << 28)'";
    let ways = [
        ("exit 3", Exited, Some(3), None),
        ("sleep 60", Limit, None, Some(Why::LimitReached)),
        ("while :; do :; done", Limit, None, Some(Why::LimitReached)),
        (&format!("exec {greedy}"), Limit, None, Some(Why::OomKill)),
        (&format!("{greedy}; exit 4"), Exited, Some(4), Some(Why::OomKill)),
        ("kill -9 $$", Exited, None, None),
        ("yes >&3", Limit, None, Some(Why::LimitReached)),
        ("yes", Limit, None, Some(Why::LimitReached)),
        ("echo 1 2 >&3", Exited, Some(0), Some(Why::BadResult)),
        ("exec /no/such", Exited, Some(127), None),
    ];
    let named =
        |(n, way): (usize, &(&str, _, _, _))| script(&format!("way{n}"), way.0);
    let mut artifacts: Vec<_> = ways.iter().enumerate().map(named).collect();
    let missing = vec!["/no/such".to_owned()];
    artifacts.push(ArtifactPlan { command: missing, ..script("none", "") });
    let mut node = Node::start(artifacts).await;
    let short = json!({"wall_ms": 2000, "cpu_ms": 1000, "mem_bytes": 32 << 20});
    for (n, (way, reason, code, why)) in ways.into_iter().enumerate() {
        let id = node.submits(&format!("way{n}"), short.clone()).await;
        let (story, out) = node.story(&id).await;
        let (exit, codes) = (exit(&story), out.codes());
        assert_eq!((exit.reason, exit.code), (reason, code), "{way}: {out:?}");
        assert_eq!(codes, Vec::from_iter(why), "{way}: {out:?}");
        node.says("job_exit_ack", &id).await;
    }
    let id = node.submits("none", limits()).await;
    let (story, out) = node.story(&id).await;
    assert_eq!((story.len(), exit(&story).reason), (1, Failed));
    assert_eq!(out.codes(), [Why::CannotStart]);
    node.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_ends_a_job_within_its_grace_whether_it_listens_or_not() {
    let mut node = Node::start(sleepers()).await;
    for (artifact, least, most) in [("sleep", 0, 2_000), ("deaf", 2_000, 9_000)]
    {
        let id = node.submits(artifact, limits()).await;
        node.runs(&id).await;
        node.says("job_cancel", &id).await;
        node.says("job_cancel", &id).await;
        let exit = exit(&node.story(&id).await.0);
        assert_eq!(exit.reason, ExitReason::Cancelled, "{artifact}");
        let took = exit.usage.wall_ms;
        assert!((least..most).contains(&took), "{artifact}: {took} ms");
        node.says("job_exit_ack", &id).await;
    }
    node.ends().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_stops_says_how_its_jobs_ended_and_leaves_nothing() {
    let mut node = Node::start(sleepers()).await;
    let id = node.submits("sleep", limits()).await;
    node.runs(&id).await;
    node.jobs.shutdown(SOON).await.unwrap();
    let (story, _) = node.story(&id).await;
    assert_eq!(exit(&story).reason, ExitReason::Stopped);
    let label = format!("label=ovnode.node={}", node.name);
    node.ends().await;
    let found = std::process::Command::new("docker")
        .args(["ps", "-aq", "--filter", &label])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&found.stdout), "");
}
