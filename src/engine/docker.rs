use super::applied::applied;
use super::connect::{Connection, Connector, turned_away};
use super::{
    ContainerId, Engine, EngineError, EngineInfo, ImageFacts, Inspection,
    LaunchSpec, OwnContainer, SandboxId, body,
};
use crate::contract::NodeId;
use bollard::errors::Error;
use bollard::models::{
    ContainerInspectResponse, ContainerStateStatusEnum, ContainerSummary,
    ContainerSummaryStateEnum, ContainerWaitResponse, ImageInspect, SystemInfo,
    SystemInfoCgroupDriverEnum, SystemInfoCgroupVersionEnum,
};
use bollard::query_parameters::{
    CreateContainerOptionsBuilder, InspectContainerOptions,
    KillContainerOptionsBuilder, ListContainersOptionsBuilder,
    RemoveContainerOptionsBuilder, StartContainerOptions,
    WaitContainerOptionsBuilder,
};
use futures::StreamExt;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;
use tokio::time::timeout;

/// Answered from the engine's memory; a busy disk may hold its locks.
pub(super) const LOOK: Duration = Duration::from_secs(10);
/// Lists walk every container, under the lock of each.
const LIST: Duration = Duration::from_secs(20);
/// Makes and mounts layers: seconds on a busy disk, never minutes.
const MAKE: Duration = Duration::from_secs(60);
/// The engine itself waits 10 s for a killed process before it tries harder.
const KILL: Duration = Duration::from_secs(30);
/// How often a wait looks for itself. An end that was not told must be found
/// within the same minute; a look costs the engine about a millisecond.
const RECHECK: Duration = Duration::from_secs(20);

/// A Docker engine on a Unix socket (or what speaks its API there).
pub struct Docker {
    connector: Connector,
}

impl Docker {
    /// The engine at this socket. Nothing is asked of it yet: it may not be
    /// there, and it may be another one each time it comes back.
    pub fn connect(socket: &Path) -> Self {
        Self { connector: Connector::new(socket.to_path_buf()) }
    }

    pub(super) fn connector(&self) -> &Connector {
        &self.connector
    }

    async fn look(
        &self,
        id: &ContainerId,
    ) -> Result<Option<ContainerInspectResponse>, EngineError> {
        let doing = "inspecting a container";
        let ask = |c: Connection| async move {
            let options = None::<InspectContainerOptions>;
            c.client.inspect_container(&id.0, options).await
        };
        absent(self.connector.call(doing, LOOK, ask).await)
    }

    /// Whether a container that we wait for has ended without a word.
    async fn ended(
        &self,
        id: &ContainerId,
    ) -> Result<Option<i64>, EngineError> {
        let found = self.look(id).await?.map(inspection);
        let found = found.ok_or_else(|| EngineError::Refused {
            doing: WAITING,
            status: 404,
            message: "the container is gone".to_owned(),
        })?;
        Ok(found.exit_code.filter(|_| !found.running))
    }
}

const WAITING: &str = "waiting for a container";

impl Engine for Docker {
    async fn info(&self) -> Result<EngineInfo, EngineError> {
        let ask =
            |c: Connection| async move { Ok((c.client.info().await?, c.api)) };
        let (said, api) =
            self.connector.call("asking for its state", LOOK, ask).await?;
        Ok(engine_info(said, api.to_string()))
    }

    async fn image(
        &self,
        reference: &str,
    ) -> Result<Option<ImageFacts>, EngineError> {
        let ask = |c: Connection| async move {
            c.client.inspect_image(reference).await
        };
        let found = self.connector.call("inspecting an image", LOOK, ask).await;
        Ok(absent(found)?.map(image_facts))
    }

    async fn create(
        &self,
        spec: &LaunchSpec,
    ) -> Result<ContainerId, EngineError> {
        let name = spec.sandbox.container();
        let body = body(spec);
        let (name, body) = (name.as_str(), &body);
        let ask = |c: Connection| async move {
            let options =
                CreateContainerOptionsBuilder::default().name(name).build();
            c.client.create_container(Some(options), body.clone()).await
        };
        let made =
            self.connector.call("creating a container", MAKE, ask).await?;
        // What the engine leaves out it only warns of; `verify` decides.
        for warning in &made.warnings {
            tracing::debug!(container.id = %made.id, %warning, "engine warns");
        }
        Ok(ContainerId(made.id))
    }

    async fn start(&self, id: &ContainerId) -> Result<(), EngineError> {
        let ask = |c: Connection| async move {
            let options = None::<StartContainerOptions>;
            c.client.start_container(&id.0, options).await
        };
        self.connector.call("starting a container", MAKE, ask).await
    }

    async fn inspect(
        &self,
        id: &ContainerId,
    ) -> Result<Option<Inspection>, EngineError> {
        Ok(self.look(id).await?.map(inspection))
    }

    async fn wait(&self, id: &ContainerId) -> Result<i64, EngineError> {
        let connection = self.connector.connection(WAITING).await?;
        let options = WaitContainerOptionsBuilder::default()
            .condition("not-running")
            .build();
        let ends = connection.client.wait_container(&id.0, Some(options));
        let mut ends = pin!(ends);
        loop {
            match timeout(RECHECK, ends.next()).await {
                Ok(Some(end)) => return self.exit_code(end),
                // The engine closed the stream without a word of the end.
                Ok(None) => return Err(self.connector.away(WAITING, None)),
                Err(_quiet) => {
                    if let Some(code) = self.ended(id).await? {
                        return Ok(code);
                    }
                }
            }
        }
    }

    async fn kill(&self, id: &ContainerId) -> Result<(), EngineError> {
        let ask = |c: Connection| async move {
            let options =
                KillContainerOptionsBuilder::default().signal("KILL").build();
            c.client.kill_container(&id.0, Some(options)).await
        };
        let answer =
            self.connector.call("killing a container", KILL, ask).await;
        match answer {
            // Not there, or not running: dead either way.
            Err(EngineError::Refused { status: 404 | 409, .. }) => Ok(()),
            other => other,
        }
    }

    async fn remove(&self, id: &ContainerId) -> Result<(), EngineError> {
        let ask = |c: Connection| async move {
            let options =
                RemoveContainerOptionsBuilder::default().force(true).v(true);
            c.client.remove_container(&id.0, Some(options.build())).await
        };
        let answer =
            self.connector.call("removing a container", MAKE, ask).await;
        match answer {
            // Not there, or being removed by another call.
            Err(EngineError::Refused { status: 404, .. }) => Ok(()),
            Err(EngineError::Refused { status: 409, message, .. })
                if message.contains("in progress") =>
            {
                Ok(())
            }
            other => other,
        }
    }

    async fn own(
        &self,
        node: &NodeId,
    ) -> Result<Vec<OwnContainer>, EngineError> {
        let label = format!("{}={node}", super::labels::NODE);
        let filters = HashMap::from([("label", vec![label])]);
        let filters = &filters;
        let ask = |c: Connection| async move {
            let options = ListContainersOptionsBuilder::default().all(true);
            let options = options.filters(filters).build();
            c.client.list_containers(Some(options)).await
        };
        let found =
            self.connector.call("listing containers", LIST, ask).await?;
        Ok(found.into_iter().filter_map(own_container).collect())
    }
}

impl Docker {
    /// The client tells every code above 0 as an error of its own.
    fn exit_code(
        &self,
        end: Result<ContainerWaitResponse, Error>,
    ) -> Result<i64, EngineError> {
        match end {
            Ok(ContainerWaitResponse { status_code, error: None }) => {
                Ok(status_code)
            }
            Ok(ContainerWaitResponse { error: Some(error), .. }) => {
                let message = error.message.unwrap_or_default();
                Err(EngineError::Refused {
                    doing: WAITING,
                    status: 200,
                    message,
                })
            }
            Err(Error::DockerContainerWaitError { code, .. }) => Ok(code),
            Err(fault) => Err(match self.connector.fault(WAITING, fault) {
                // Another engine by now: nothing was learnt of the container.
                turned if turned_away(&turned) => {
                    self.connector.away(WAITING, Some(Box::new(turned)))
                }
                fault => fault,
            }),
        }
    }
}

/// "No such thing" is an answer, not a fault.
fn absent<T>(answer: Result<T, EngineError>) -> Result<Option<T>, EngineError> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(EngineError::Refused { status: 404, .. }) => Ok(None),
        Err(fault) => Err(fault),
    }
}

fn engine_info(said: SystemInfo, api: String) -> EngineInfo {
    let v2 = said.cgroup_version == Some(SystemInfoCgroupVersionEnum::_2);
    EngineInfo {
        version: said.server_version.unwrap_or_default(),
        api,
        cgroup_version: if v2 { 2 } else { 1 },
        cgroup_driver: said
            .cgroup_driver
            .as_ref()
            .map(SystemInfoCgroupDriverEnum::to_string)
            .unwrap_or_default(),
        data_root: PathBuf::from(said.docker_root_dir.unwrap_or_default()),
        security: said.security_options.unwrap_or_default(),
    }
}

fn image_facts(said: ImageInspect) -> ImageFacts {
    let config = said.config.unwrap_or_default();
    let created =
        said.created.and_then(|at| at.parse::<jiff::Timestamp>().ok());
    ImageFacts {
        id: said.id.unwrap_or_default(),
        volumes: config.volumes.unwrap_or_default(),
        env: config.env.unwrap_or_default(),
        architecture: said.architecture.unwrap_or_default(),
        // Images without a date say the year 1.
        created_ms: created
            .and_then(|at| u64::try_from(at.as_millisecond()).ok()),
        size_bytes: said.size.and_then(|n| u64::try_from(n).ok()).unwrap_or(0),
    }
}

fn inspection(said: ContainerInspectResponse) -> Inspection {
    let applied = applied(&said);
    let state = said.state.unwrap_or_default();
    let running = state.running.unwrap_or(false);
    let over = matches!(
        state.status,
        Some(ContainerStateStatusEnum::EXITED | ContainerStateStatusEnum::DEAD)
    );
    let pid = state.pid.and_then(|pid| u32::try_from(pid).ok());
    Inspection {
        pid: pid.filter(|pid| running && *pid != 0),
        running,
        exit_code: state.exit_code.filter(|_| over),
        oom_killed: state.oom_killed.unwrap_or(false),
        error: state.error.filter(|text| !text.is_empty()),
        applied,
    }
}

fn own_container(said: ContainerSummary) -> Option<OwnContainer> {
    // Anybody who may speak to the engine may write a label: a name that is
    // no name of ours is a stranger's container.
    let sandbox = SandboxId(said.labels?.remove(super::labels::SANDBOX)?);
    sandbox.is_plain().then_some(())?;
    Some(OwnContainer {
        id: ContainerId(said.id?),
        sandbox,
        running: matches!(
            said.state,
            Some(
                ContainerSummaryStateEnum::RUNNING
                    | ContainerSummaryStateEnum::PAUSED
                    | ContainerSummaryStateEnum::RESTARTING
            )
        ),
        created_s: said
            .created
            .and_then(|s| u64::try_from(s).ok())
            .unwrap_or(0),
    })
}
