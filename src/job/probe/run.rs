use super::facts::Facts;
use super::judge::{Asked, ProbeReport, Promise, judge, promise};
use crate::contract::{
    ArtifactRef, Bytes, Clock, Job, JobId, Limits, MonoMs, NetPolicy, Now,
    RuntimeClass,
};
use crate::engine::Engine;
use crate::init::{EndedBy, ExitRecord, Identity, Orders, Outcome};
use crate::job::sandbox::{
    EngineWorkshop, Made, RealSandbox, Sandbox, Wish, Word, chain, orders,
};
use crate::job::step::Terms;
use crate::job::{ArtifactPlan, ArtifactSource, ClassPlan};
use std::time::Duration;

const SCRIPT: &str = include_str!("inside.sh");
/// The script takes a tenth of a second; a machine under full load, seconds.
const RUNS: Duration = Duration::from_secs(60);
/// How long a probe that is killed has to be gone.
const DIES: Duration = Duration::from_secs(10);
/// Far more than the script writes.
const MOST_OUTPUT: usize = 256 << 10;
/// Namespaces that a sandbox shares with nobody.
const NAMESPACES: [&str; 6] = ["pid", "ipc", "uts", "cgroup", "net", "mnt"];

/// One probe of one class.
pub(super) struct Probe<'a, E> {
    pub(super) workshop: &'a EngineWorkshop<E>,
    pub(super) clock: &'a dyn Clock,
    pub(super) class: RuntimeClass,
    pub(super) plan: &'a ClassPlan,
    pub(super) uid: u32,
}

impl<E: Engine> Probe<'_, E> {
    /// Runs it: whatever goes wrong is a promise that is not kept.
    pub(super) async fn run(&self) -> ProbeReport {
        let now = self.clock.now();
        let promises = match self.sandboxed(now).await {
            Ok(promises) => promises,
            Err(said) => vec![promise("a sandbox can be made", Err(said))],
        };
        ProbeReport { class: self.class, at: now.wall, promises }
    }

    async fn sandboxed(&self, now: Now) -> Result<Vec<Promise>, String> {
        let artifact = self.artifact();
        let wish = Wish {
            class: self.class,
            plan: self.plan.clone(),
            artifact: artifact.clone(),
            uid: self.uid,
            memory: self.plan.memory,
        };
        let made = self.workshop.make(&wish).await;
        let Made { mut sandbox, spec } = made.map_err(|err| chain(&err))?;
        let terms = self.terms(now);
        let job = self.job()?;
        let env = sandbox.image_env().clone();
        let with = (self.uid, &self.plan.caps, &env);
        let orders = orders(&job, &artifact, &terms, with);
        let outside = outside(sandbox.pid());
        self.execute(&mut sandbox, &job, orders.clone()).await?;
        let ended = sandbox.end()?;
        let report = sandbox.read(0, MOST_OUTPUT)?.bytes;
        let facts = Facts::read(&String::from_utf8_lossy(&report));
        let asked = Asked { spec: &spec, orders: &orders };
        let mut promises = vec![
            promise("the engine makes what it is asked for", Ok(())),
            promise("namespaces are its own", outside),
            promise("PID 1 leaves a record", record(ended)),
        ];
        promises.extend(judge(&asked, &facts));
        Ok(promises)
    }

    /// Runs the script as a job would run, with a deadline from outside.
    async fn execute(
        &self,
        sandbox: &mut RealSandbox<E>,
        job: &Job,
        orders: Orders,
    ) -> Result<(), String> {
        let identity = Identity {
            job: job.id.as_str().to_owned(),
            dispatcher: "_self".to_owned(),
            hash: job.hash(),
        };
        sandbox.order(identity, orders).await?;
        if tokio::time::timeout(RUNS, gone(sandbox)).await.is_ok() {
            return Ok(());
        }
        let kill = sandbox.kill();
        kill.await;
        let dead = tokio::time::timeout(DIES, gone(sandbox)).await;
        let secs = RUNS.as_secs();
        Err(match dead {
            Ok(()) => format!("the probe did not end within {secs} s"),
            Err(_) => format!("the probe did not end, nor die, in {secs} s"),
        })
    }

    fn artifact(&self) -> ArtifactPlan {
        let script = ["/bin/sh", "-c", SCRIPT, "probe"];
        ArtifactPlan {
            id: ArtifactRef {
                name: "ovnode-probe".to_owned(),
                version: "1".to_owned(),
            },
            class: self.class,
            source: ArtifactSource::Image(self.plan.image.clone()),
            command: script.map(str::to_owned).to_vec(),
            env: [("OVNODE_PROBE".to_owned(), "a b".to_owned())].into(),
            stream_stderr: false,
        }
    }

    fn terms(&self, received: Now) -> Terms {
        Terms {
            received,
            ttl: RUNS,
            wall: RUNS,
            cpu: RUNS,
            grace: Duration::from_secs(1),
            output: self.plan.caps.output,
            result: Bytes::kib(64),
        }
    }

    /// A job that no dispatcher can have sent: its id was made in 1970.
    fn job(&self) -> Result<Job, String> {
        let id = "job_00000000000000000000000000".to_owned();
        let id = JobId::try_from(id).map_err(|err| err.to_string())?;
        let args = [("probe".to_owned(), serde_json::Value::from(1))];
        Ok(Job {
            id,
            class: self.class,
            artifact: None,
            args: args.into_iter().collect(),
            ttl: RUNS,
            limits: Limits { wall: RUNS, cpu: RUNS, memory: self.plan.memory },
            net: NetPolicy::Deny,
            inputs: Vec::new(),
        })
    }
}

async fn gone<S: Sandbox>(sandbox: &mut S) {
    while sandbox.next().await != Word::Gone {}
}

fn record(ended: Option<(ExitRecord, Vec<u8>)>) -> Result<(), String> {
    let Some((record, written)) = ended else {
        return Err("there is none".to_owned());
    };
    let fine = record.outcome == Outcome::Exited(0)
        && record.ended_by == EndedBy::Program;
    if !fine {
        let (outcome, by) = (&record.outcome, record.ended_by);
        return Err(format!("it says {outcome:?}, ended by {by:?}"));
    }
    if written != br#"{"fd3":true}"# {
        let written = String::from_utf8_lossy(&written).into_owned();
        return Err(format!("fd 3 held `{written}`"));
    }
    // What meters and deadlines stand on must be readable here.
    let started = record.started_mono_ms.map(MonoMs);
    let read = (started, record.cpu_ms, record.oom_kills);
    match read {
        (Some(_), Some(_), Some(_)) => Ok(()),
        (None, _, _) => Err("it says nothing of the start".to_owned()),
        (_, None, _) => Err("PID 1 cannot read the CPU used".to_owned()),
        (_, _, None) => Err("PID 1 cannot count OOM kills".to_owned()),
    }
}

/// What is seen of the sandbox from the host.
fn outside(pid: u32) -> Result<(), String> {
    for name in NAMESPACES {
        let of = |process: &str| {
            let path = format!("/proc/{process}/ns/{name}");
            std::fs::read_link(&path).map_err(|err| format!("{path}: {err}"))
        };
        if of(&pid.to_string())? == of("self")? {
            return Err(format!("its {name} namespace is the host's"));
        }
    }
    Ok(())
}
