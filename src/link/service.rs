use super::config::LinkConfig;
use async_nats::Client;
use async_nats::service::{Service, ServiceExt};
use futures::FutureExt;
use std::collections::HashMap;
use std::time::Duration;

/// The node's entry among the NATS services (`nats micro ls`). It has no
/// endpoints there: requests come in on the node's own subjects.
#[derive(Debug)]
pub(super) struct Registration(Option<Service>);

impl Drop for Registration {
    fn drop(&mut self) {
        // The client's own task would keep the connection open for it.
        if let Some(service) = self.0.take() {
            drop(service.stop().now_or_never());
        }
    }
}

/// Registers the node. That it cannot be found there harms no job, so a
/// failure is only logged.
pub(super) async fn register(
    client: &Client,
    config: &LinkConfig,
) -> Registration {
    let about = HashMap::from([
        ("node".to_owned(), config.node.to_string()),
        ("name".to_owned(), config.node_name.clone()),
        ("instance".to_owned(), config.instance.clone()),
    ]);
    let start = client
        .service_builder()
        .description("runs jobs in containers")
        .metadata(about)
        .queue_group(config.node.to_string())
        .start("ovnode", &config.version);
    match tokio::time::timeout(Duration::from_secs(5), start).await {
        Ok(Ok(service)) => Registration(Some(service)),
        Ok(Err(err)) => {
            tracing::warn!(error = %err, "cannot register as a service");
            Registration(None)
        }
        Err(_) => {
            tracing::warn!("cannot register as a service in time");
            Registration(None)
        }
    }
}
