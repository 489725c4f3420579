//! The `[nats]` section as the link wants it.

use super::config::{Config, NatsAuth, NatsConfig, Secret};
use crate::contract::{NodeId, Timestamp};
use crate::link::{
    LinkAuth, LinkConfig, LinkTiming, LinkTls, Secret as LinkSecret,
};

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
        inbox_prefix: inbox_prefix(nats),
        node: run.node.clone(),
        instance: run.id.clone(),
        started: run.started,
        node_name: run.node.to_string(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        timing: LinkTiming::default(),
    }
}

fn inbox_prefix(nats: &NatsConfig) -> String {
    nats.inbox_prefix.clone().unwrap_or_else(|| "_INBOX".to_owned())
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
