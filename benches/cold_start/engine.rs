use crate::{Fallible, IMAGE};
use bollard::Docker;
use bollard::models::{
    ContainerCreateBody, HostConfig, HostConfigLogConfig, SystemInfo,
};
use bollard::query_parameters::{
    AttachContainerOptionsBuilder, CreateContainerOptionsBuilder,
    RemoveContainerOptionsBuilder, StartContainerOptions,
};
use futures::StreamExt;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// A start takes some hundred milliseconds; an engine that takes longer than
/// this is not worth measuring.
const LIMIT: Duration = Duration::from_secs(60);

/// The engine, spoken to directly: what nobody on top of it can beat.
pub(crate) struct Bare {
    docker: Docker,
    /// One container at a time, of this name, so that none is lost.
    name: String,
}

/// Each since the start of the measurement.
pub(crate) struct BareTimes {
    pub(crate) made: Duration,
    pub(crate) started: Duration,
    pub(crate) first_byte: Duration,
}

impl Bare {
    pub(crate) fn connect() -> Fallible<Self> {
        let docker = Docker::connect_with_unix_defaults()?;
        let name = format!("ovnode-bench-{}", std::process::id());
        Ok(Self { docker, name })
    }

    /// What this is measured on, in one line.
    pub(crate) async fn machine(&self) -> Fallible<String> {
        let SystemInfo { server_version, ncpu, kernel_version, .. } =
            self.docker.info().await?;
        let text = Option::unwrap_or_default;
        Ok(format!(
            "{} cores, engine {}, kernel {}",
            ncpu.unwrap_or_default(),
            text(server_version),
            text(kernel_version),
        ))
    }

    /// Makes, attaches to and starts a container, until its first byte; its
    /// removal is not timed.
    pub(crate) async fn cold_start(&self) -> Fallible<BareTimes> {
        let timed = timeout(LIMIT, self.timed()).await;
        let options = RemoveContainerOptionsBuilder::default().force(true);
        let gone =
            self.docker.remove_container(&self.name, Some(options.build()));
        let (gone, times) = (gone.await, timed??);
        gone?; // after the fault that it may have come from
        Ok(times)
    }

    async fn timed(&self) -> Fallible<BareTimes> {
        let (docker, name) = (&self.docker, &self.name);
        let begun = Instant::now();
        let options = CreateContainerOptionsBuilder::default().name(name);
        docker.create_container(Some(options.build()), body()).await?;
        let options =
            AttachContainerOptionsBuilder::default().stream(true).stdout(true);
        let mut attached =
            docker.attach_container(name, Some(options.build())).await?;
        let made = begun.elapsed();
        // The byte may come before the answer does.
        let start = async {
            let options = None::<StartContainerOptions>;
            docker.start_container(name, options).await?;
            Ok(begun.elapsed())
        };
        let hear = async {
            let said = attached.output.next().await;
            said.ok_or("the container said nothing")??;
            Fallible::Ok(begun.elapsed())
        };
        let (started, first_byte) = tokio::try_join!(start, hear)?;
        Ok(BareTimes { made, started, first_byte })
    }
}

impl Drop for Bare {
    /// For a measurement that was interrupted.
    fn drop(&mut self) {
        let gone = ["rm", "--force", &self.name];
        drop(std::process::Command::new("docker").args(gone).output());
    }
}

fn body() -> ContainerCreateBody {
    ContainerCreateBody {
        image: Some(IMAGE.to_owned()),
        entrypoint: Some(vec!["/bin/echo".to_owned()]),
        cmd: Some(vec!["hello".to_owned()]),
        attach_stdout: Some(true),
        host_config: Some(HostConfig {
            network_mode: Some("none".to_owned()),
            log_config: Some(HostConfigLogConfig {
                typ: Some("none".to_owned()),
                config: None,
            }),
            init: Some(false),
            ..HostConfig::default()
        }),
        ..ContainerCreateBody::default()
    }
}
