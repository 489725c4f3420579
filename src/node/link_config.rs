//! The `[nats]` section as the link wants it.

use super::config::{Config, NatsAuth, NatsConfig, Secret};
use crate::contract::{Clock, DispatcherId, NodeId, Timestamp};
use crate::link::client::DispatcherConfig;
use crate::link::{
    LinkAuth, LinkConfig, LinkTiming, LinkTls, Secret as LinkSecret,
};
use std::sync::Arc;
use std::time::Duration;

/// Who this run of the daemon is.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    /// The node's id.
    pub(crate) node: NodeId,
    /// Random for each start.
    pub(crate) id: String,
    /// When it started.
    pub(crate) started: Timestamp,
}

/// What the link must be told.
pub(crate) fn link_config(config: &Config, run: &Instance) -> LinkConfig {
    let nats = &config.nats;
    LinkConfig {
        servers: nats.servers.iter().map(ToString::to_string).collect(),
        auth: auth(nats),
        tls: tls(nats),
        prefix: nats.prefix.clone(),
        inbox_prefix: nats.inbox_prefix.clone(),
        node: run.node.clone(),
        instance: run.id.clone(),
        started: run.started,
        node_name: run.node.to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        timing: LinkTiming::default(),
    }
}

fn auth(nats: &NatsConfig) -> LinkAuth {
    match &nats.auth {
        NatsAuth::Anonymous => LinkAuth::None,
        NatsAuth::Creds(path) => LinkAuth::CredsFile(path.clone()),
        NatsAuth::NkeySeed(path) => LinkAuth::NkeySeedFile(path.clone()),
        NatsAuth::Token(token) => LinkAuth::Token(secret(token)),
        NatsAuth::Password { user, password } => LinkAuth::UserPassword {
            user: user.clone(),
            password: secret(password),
        },
    }
}

fn secret(secret: &Secret) -> LinkSecret {
    LinkSecret::Text(secret.reveal().to_owned())
}

fn tls(nats: &NatsConfig) -> LinkTls {
    let pair = nats.tls.identity.as_ref();
    LinkTls {
        required: nats.tls.required,
        roots: nats.tls.ca.clone(),
        certificate: pair.map(|it| (it.cert.clone(), it.key.clone())),
    }
}

/// What a dispatcher on this machine must be told: the servers and
/// credentials are the node's own.
pub fn dispatcher_config(
    config: &Config,
    dispatcher: DispatcherId,
    clock: Arc<dyn Clock>,
) -> DispatcherConfig {
    let nats = &config.nats;
    DispatcherConfig {
        servers: nats.servers.iter().map(ToString::to_string).collect(),
        auth: auth(nats),
        tls: tls(nats),
        prefix: nats.prefix.clone(),
        inbox_prefix: nats.inbox_prefix.clone(),
        dispatcher,
        clock,
        offers_every: config.intervals.offer,
        // An answer needs a durable row at the node, and may wait behind a
        // reconnect of either side.
        answer_within: Duration::from_secs(20),
    }
}
