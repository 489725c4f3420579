use super::auth;
use super::config::LinkConfig;
use super::error::LinkError;
use async_nats::{
    Client, ConnectErrorKind, Event, ReconnectToServer, ServerAddr,
};
use std::time::Duration;
use tokio::sync::mpsc;

/// One connection. The client under it never reconnects by itself: when the
/// connection breaks, its subscriptions end, and the supervisor makes a new
/// one with credentials read afresh and pauses of its own.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) client: Client,
    pub(super) events: mpsc::Receiver<Event>,
    /// The server's host and port, for people.
    pub(super) server: String,
}

/// An address that refuses at once and without a packet on any network.
/// The client always tries once more after a connection broke; that one
/// attempt is sent here.
const NOWHERE: &str = "nats://127.0.0.1:0";

/// Messages that one subscription may hold before the reader has seen them:
/// room for a whole burst of 65,536. Nothing is reserved for it ahead.
const BURST: usize = 1 << 16;

/// Makes one connection, or says why not.
pub(super) async fn open(
    config: &LinkConfig,
    server: &str,
) -> Result<Wire, LinkError> {
    let address = parse(server)?;
    let named = format!("{}:{}", address.host(), address.port());
    let (options, events) = options(config, &address).await?;
    let pool = vec![address, parse(NOWHERE)?];
    // Each step has its limit inside; the one around them all is for what
    // we cannot know (name resolution).
    let limit = config.timing.connect.saturating_mul(2);
    let made = tokio::time::timeout(limit, options.connect(pool));
    let failed = |err| failure(named.clone(), auth::who(&config.auth), err);
    let client = match made.await {
        Ok(made) => made.map_err(failed)?,
        Err(_) => {
            let late = async_nats::ConnectError::new;
            return Err(failed(late(ConnectErrorKind::TimedOut)));
        }
    };
    Ok(Wire { client, events, server: named })
}

pub(super) fn parse(server: &str) -> Result<ServerAddr, LinkError> {
    server.parse().map_err(|source| LinkError::BadServer {
        server: server.to_owned(),
        source,
    })
}

async fn options(
    config: &LinkConfig,
    address: &ServerAddr,
) -> Result<(async_nats::ConnectOptions, mpsc::Receiver<Event>), LinkError> {
    // As many as the client itself holds back.
    let (tell, events) = mpsc::channel(128);
    let target = address.clone();
    let first = std::sync::atomic::AtomicBool::new(true);
    let options = auth::options(&config.auth, address).await?;
    let options = auth::protect(options, &config.tls, address);
    let options = auth::inboxes(options, config.inbox_prefix.as_deref())
        .name(format!("ovnode {} {}", config.node, config.node_name))
        .ping_interval(config.timing.ping)
        .connection_timeout(config.timing.connect)
        .subscription_capacity(BURST)
        // 256 frames of 16 KiB on top of those in the outbox.
        .client_capacity(256)
        .ignore_discovered_servers()
        .max_reconnects(1)
        .reconnect_to_server_callback(move |_, _| {
            use std::sync::atomic::Ordering::Relaxed;
            let addr = first.swap(false, Relaxed).then(|| target.clone());
            async move {
                let addr = addr.or_else(|| NOWHERE.parse().ok())?;
                Some(ReconnectToServer { addr, delay: Some(Duration::ZERO) })
            }
        })
        .event_callback(move |event| {
            // Events only say sooner what ended subscriptions say anyway;
            // denials come at most one a subject.
            drop(tell.try_send(event));
            async {}
        });
    Ok((options, events))
}

/// Tells refused credentials from everything else.
pub(super) fn failure(
    server: String,
    who: String,
    source: async_nats::ConnectError,
) -> LinkError {
    match source.kind() {
        ConnectErrorKind::Authentication
        | ConnectErrorKind::AuthorizationViolation => {
            LinkError::Refused { server, who, source }
        }
        ConnectErrorKind::ServerParse
        | ConnectErrorKind::Dns
        | ConnectErrorKind::TimedOut
        | ConnectErrorKind::Tls
        | ConnectErrorKind::Io
        | ConnectErrorKind::MaxReconnects => {
            LinkError::Connect { server, source }
        }
    }
}
