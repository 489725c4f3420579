use super::real::{Container, KeptRecord, RealSandbox};
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
        let record = self.record(wish, &sandbox)?;
        let base = launch::Base {
            node: &self.node,
            sandbox,
            record: record.get()?.path().to_path_buf(),
            init: self.init.clone(),
            image: &image,
            covers: cover,
        };
        let spec = launch::spec(wish, base, seccomp_strict());
        let container = self.container(&spec).await?;
        let id = container.id.clone();
        self.engine.start(&id).await?;
        let (line, pid) =
            tokio::join!(stand(record.get()?), self.checked(&spec, &id));
        let pid = pid?;
        let watch = PidWatch::of(pid).map_err(|err| {
            EngineError::NotAsAsked(format!("its PID 1 is gone: {err}"))
        })?;
        let sandbox = RealSandbox {
            engine: self.engine.clone(),
            cgroup: Cgroup::of(pid, &id)?,
            stdout: record.get()?.stdout(),
            id,
            container: Some(container),
            record,
            line: Some(line?),
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

    fn record(
        &self,
        wish: &Wish,
        sandbox: &SandboxId,
    ) -> Result<Arc<KeptRecord>, EngineError> {
        let stderr = (!wish.artifact.stream_stderr).then_some(STDERR);
        let rings = RingSizes { stdout: wish.plan.caps.output, stderr };
        let made = Record::create(&self.records, sandbox, wish.uid, rings)?;
        let remover = self.remover.clone();
        Ok(KeptRecord::new(made, sandbox.clone(), remover))
    }

    async fn container(
        &self,
        spec: &LaunchSpec,
    ) -> Result<Container, EngineError> {
        let remover = self.remover.clone();
        match self.engine.create(spec).await {
            Ok(id) => Ok(Container { id, remover }),
            Err(err @ EngineError::Away { .. }) => {
                // It may have been made all the same: its name is known.
                remover.remove(ContainerId(spec.sandbox.container()));
                Err(err)
            }
            // Nothing of ours was made, whatever else has that name.
            Err(err) => Err(err),
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
