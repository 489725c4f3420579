use super::kept::{Container, KeptRecord, on_disk};
use super::real::RealSandbox;
use super::remove::Remover;
use super::watch::PidWatch;
use super::{Wish, Workshop, launch};
use crate::contract::{Bytes, NodeId};
use crate::engine::cgroup::Cgroup;
use crate::engine::record::{Line, Record, RingSizes};
use crate::engine::{
    ContainerId, Engine, EngineError, ImageFacts, LaunchSpec, SandboxId, Tmpfs,
    allowed_env, covers, seccomp_strict, verify,
};
use crate::init::{FromInit, Phase};
use crate::job::ArtifactSource;
use crate::job::step::OpenFault;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::task::TaskTracker;

/// PID 1 connects in a few milliseconds; a machine under full load takes
/// some seconds.
const STANDS: Duration = Duration::from_secs(20);
/// What is kept of a job's stderr where that is the owner's: the end of a
/// traceback, not a second stdout.
const STDERR: Bytes = Bytes::mib(1);

/// Makes names of sandboxes that were never used before.
pub type SandboxNames = Arc<dyn Fn() -> SandboxId + Send + Sync>;

/// Sandboxes over a real engine.
pub(crate) struct EngineWorkshop<E> {
    pub(crate) engine: Arc<E>,
    pub(crate) node: NodeId,
    pub(crate) init: PathBuf,
    pub(crate) records: PathBuf,
    pub(crate) names: SandboxNames,
    pub(crate) remover: Remover,
    pub(crate) tasks: TaskTracker,
}

/// A sandbox that stands, and what was asked for.
pub(crate) struct Made<E> {
    pub(crate) sandbox: RealSandbox<E>,
    pub(crate) spec: LaunchSpec,
}

impl<E: Engine> Workshop for EngineWorkshop<E> {
    type Sandbox = RealSandbox<E>;

    async fn open(&self, wish: Wish) -> Result<RealSandbox<E>, OpenFault> {
        let made = self.make(&wish).await.map_err(fault)?;
        Ok(made.sandbox)
    }
}

impl<E: Engine> EngineWorkshop<E> {
    /// Makes a sandbox, starts it, and compares it with what was asked for
    /// before it has any orders.
    pub(crate) async fn make(
        &self,
        wish: &Wish,
    ) -> Result<Made<E>, EngineError> {
        let (image, cover) = self.image(wish).await?;
        let sandbox = (self.names)();
        let record = self.record(wish, sandbox.clone()).await?;
        let base = launch::Base {
            node: &self.node,
            sandbox,
            record: record.get()?.path().to_path_buf(),
            init: self.init.clone(),
            image: &image,
            covers: cover,
        };
        let spec = launch::spec(wish, base, seccomp_strict());
        let (id, container) = self.container(&spec).await?;
        self.engine.start(&id).await?;
        // PID 1 connects meanwhile. What it has to say is not waited for in
        // a sandbox that will not be used.
        let pid = self.checked(&spec, &id).await?;
        let line = stand(record.get()?).await?;
        let watch = PidWatch::of(pid).map_err(|err| {
            EngineError::NotAsAsked(format!("its PID 1 is gone: {err}"))
        })?;
        let sandbox = RealSandbox {
            engine: self.engine.clone(),
            tasks: self.tasks.clone(),
            cgroup: Cgroup::of(pid, &id)?,
            stdout: record.get()?.stdout(),
            id,
            container: Some(container),
            record,
            line: Some(line),
            watch,
            env: allowed_env(&image),
            result: wish.plan.caps.result,
            pid,
            exit_by: None,
        };
        Ok(Made { sandbox, spec })
    }

    async fn image(
        &self,
        wish: &Wish,
    ) -> Result<(ImageFacts, Vec<Tmpfs>), EngineError> {
        let reference = wish.image();
        let found = self.engine.image(reference).await?;
        let image = found.ok_or_else(|| {
            let said = format!("image `{reference}` is not on this machine");
            EngineError::NotAsAsked(said)
        })?;
        let cover = covers(&image)?;
        if let ArtifactSource::Directory(host) = &wish.artifact.source
            && !host.is_dir()
        {
            let said = format!("`{}` is not a directory", host.display());
            return Err(EngineError::NotAsAsked(said));
        }
        Ok((image, cover))
    }

    async fn record(
        &self,
        wish: &Wish,
        sandbox: SandboxId,
    ) -> Result<Arc<KeptRecord>, EngineError> {
        let stderr = (!wish.artifact.stream_stderr).then_some(STDERR);
        let rings = RingSizes { stdout: wish.plan.caps.output, stderr };
        let (root, uid) = (self.records.clone(), wish.uid);
        let remover = self.remover.clone();
        let make = move || {
            KeptRecord::make(sandbox, remover, |sandbox| {
                Record::create(&root, sandbox, uid, rings)
            })
        };
        on_disk(&self.tasks, make).await
    }

    async fn container(
        &self,
        spec: &LaunchSpec,
    ) -> Result<(ContainerId, Container), EngineError> {
        let mut container = Container::of(&spec.sandbox, self.remover.clone());
        match self.engine.create(spec).await {
            Ok(id) => {
                container.made(&id);
                Ok((id, container))
            }
            // It may have been made all the same.
            Err(err @ EngineError::Away { .. }) => Err(err),
            Err(err) => {
                container.not_made();
                Err(err)
            }
        }
    }

    async fn checked(
        &self,
        spec: &LaunchSpec,
        id: &ContainerId,
    ) -> Result<u32, EngineError> {
        let not = |said: &str| EngineError::NotAsAsked(said.to_owned());
        let found = self.engine.inspect(id).await?;
        let found = found.ok_or_else(|| not("it is gone"))?;
        verify(spec, &found)?;
        let Some(pid) = found.pid.filter(|_| found.running) else {
            let code = found.exit_code.unwrap_or_default();
            let why = found.error.clone().unwrap_or_default();
            let said = format!("its PID 1 exited with {code} {why}");
            return Err(not(said.trim_end()));
        };
        Ok(pid)
    }
}

async fn stand(record: &Record) -> Result<Line, EngineError> {
    let ready = async {
        let mut line = record.accept(STANDS).await?;
        match line.recv().await {
            Some(FromInit::Ready { phase: Phase::Waiting }) => Ok(line),
            other => Err(EngineError::NotAsAsked(format!(
                "its PID 1 said {other:?} before it had orders"
            ))),
        }
    };
    let doing = "waiting for it to stand";
    let late = |_| EngineError::InitAway { doing, source: None };
    tokio::time::timeout(STANDS, ready).await.map_err(late)?
}

/// Whether another try can be any better.
pub(crate) fn fault(err: EngineError) -> OpenFault {
    let said = chain(&err);
    match err {
        EngineError::Away { .. } => OpenFault::Away(said),
        EngineError::Refused { .. }
        | EngineError::Unsupported { .. }
        | EngineError::NotAsAsked(_)
        | EngineError::Corrupt { .. }
        | EngineError::InitAway { .. }
        | EngineError::Host { .. } => OpenFault::Refused(said),
    }
}

/// An error and all that led to it, in one line.
pub(crate) fn chain(err: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(err.source(), |err| err.source());
    causes.fold(err.to_string(), |said, cause| format!("{said}: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::RuntimeClass;
    use crate::engine::fake::{Call, FakeEngine, Turn};
    use crate::job::sandbox::{Ours, RemoveTask};
    use crate::job::testing::plan;
    use tokio::time::Instant;
    use tokio_util::sync::CancellationToken;

    const IMAGE: &str = "ovnode/function:1";

    /// A workshop over an engine, its remover at work.
    struct Stage {
        engine: FakeEngine,
        workshop: EngineWorkshop<FakeEngine>,
        records: tempfile::TempDir,
    }

    impl Stage {
        fn new() -> Self {
            let engine = FakeEngine::with_image(IMAGE);
            let records = tempfile::tempdir().unwrap();
            let node: NodeId = "node_1".to_owned().try_into().unwrap();
            let (remover, removals) = Remover::new();
            let task = RemoveTask {
                removals,
                ours: Arc::new(Ours {
                    engine: Arc::new(engine.clone()),
                    node: node.clone(),
                    records: records.path().to_owned(),
                }),
                stop: CancellationToken::new(),
            };
            TaskTracker::new().spawn(task.run());
            let workshop = EngineWorkshop {
                engine: Arc::new(engine.clone()),
                node,
                init: "/init".into(),
                records: records.path().to_owned(),
                names: Arc::new(|| SandboxId("sb_1".to_owned())),
                remover,
                tasks: TaskTracker::new(),
            };
            Self { engine, workshop, records }
        }

        async fn makes(&self) -> Result<Made<FakeEngine>, EngineError> {
            let plan = plan(1);
            let class = RuntimeClass::Function;
            let mut wish = Wish {
                class,
                plan: plan.classes[&class].clone(),
                artifact: plan.artifacts[0].clone(),
                uid: 20_000,
                memory: Bytes::mib(64),
            };
            wish.plan.caps.output = Bytes::kib(64);
            wish.artifact.source = ArtifactSource::Image(IMAGE.to_owned());
            self.workshop.make(&wish).await
        }

        /// Neither a container nor a record, without waiting for the end.
        async fn nothing_is_left(&self) {
            tokio::time::sleep(Duration::from_millis(1)).await;
            let sandbox = SandboxId("sb_1".to_owned());
            assert_eq!(self.engine.container(&sandbox), None);
            let records = self.records.path().read_dir().unwrap();
            assert_eq!(records.count(), 0);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_sandbox_that_is_not_as_asked_is_not_waited_for() {
        let (stage, began) = (Stage::new(), Instant::now());
        stage.engine.shows_instead("user", "user=somebody");
        let refused = stage.makes().await.map(|_| ()).unwrap_err();
        assert!(matches!(refused, EngineError::NotAsAsked(_)), "{refused}");
        assert_eq!(began.elapsed(), Duration::ZERO);
        stage.nothing_is_left().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_container_that_may_have_been_made_is_removed_by_its_name() {
        let stage = Stage::new();
        stage.engine.next(Call::Create, Turn::Lost);
        assert!(stage.makes().await.is_err());
        stage.nothing_is_left().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_making_that_is_given_up_leaves_nothing() {
        let stage = Stage::new();
        let hangs = Duration::from_secs(3600);
        stage.engine.next(Call::Create, Turn::Late(hangs));
        let making = stage.makes();
        let second = Duration::from_secs(1);
        assert!(tokio::time::timeout(second, making).await.is_err());
        stage.nothing_is_left().await;
        assert_eq!(stage.engine.calls().last(), Some(&Call::Remove));
    }

    #[tokio::test(start_paused = true)]
    async fn a_name_that_another_has_is_left_to_it() {
        let stage = Stage::new();
        let taken = Turn::Refused(409, "the name is in use".to_owned());
        stage.engine.next(Call::Create, taken);
        assert!(stage.makes().await.is_err());
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(stage.engine.calls().last(), Some(&Call::Create));
    }
}
