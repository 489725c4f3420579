use super::EngineError;
use bollard::errors::Error;
use bollard::{API_DEFAULT_VERSION, ClientVersion, Docker as Client};
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// A version of the engine's API, as 1.41.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ApiVersion(pub(super) u32, pub(super) u32);

/// Engine 20.10. Older ones cannot give a container a cgroup namespace of
/// its own, and would ignore that they were asked to.
pub(super) const OLDEST: ApiVersion = ApiVersion(1, 41);

/// The newest whose answers we know the shape of: that of the client's types.
pub(super) const NEWEST: ApiVersion = ApiVersion(1, 53);

/// An engine answers `/version` out of memory: one that takes longer is not
/// well, and whoever calls has a deadline of its own to keep after this.
const AGREE: Duration = Duration::from_secs(5);

/// The client's own limit, on the time to the first byte of an answer. Above
/// every deadline of ours, so that ours decide.
const CLIENT_LIMIT_S: u64 = 600;

impl ApiVersion {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.')?;
        Some(Self(major.parse().ok()?, minor.parse().ok()?))
    }

    /// The version to speak with an engine of `newest` down to `oldest`, if
    /// there is one that both know.
    fn agree(newest: Self, oldest: Self) -> Option<Self> {
        let common = newest.min(NEWEST);
        (common >= OLDEST && common >= oldest).then_some(common)
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// A client, and the version that it speaks.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) api: ApiVersion,
}

/// Makes connections to one socket, anew whenever the engine was away: it
/// may be another version when it comes back.
pub(super) struct Connector {
    socket: PathBuf,
    held: Mutex<Option<Connection>>,
}

impl Connector {
    /// Nothing is asked of the socket until the first call, so that a node
    /// can start before its engine.
    pub(super) fn new(socket: PathBuf) -> Self {
        Self { socket, held: Mutex::new(None) }
    }

    /// One call, within `limit`. It is made once; only a call that the
    /// engine turned away unread, for the version it was made in, is made
    /// again in the version that the engine speaks now.
    pub(super) async fn call<T, F, A>(
        &self,
        doing: &'static str,
        limit: Duration,
        ask: F,
    ) -> Result<T, EngineError>
    where
        F: Fn(Connection) -> A,
        A: Future<Output = Result<T, Error>>,
    {
        let connection = self.connection(doing).await?;
        match self.once(doing, limit, ask(connection)).await {
            Err(fault) if turned_away(&fault) => {
                self.forget();
                let connection = self.connection(doing).await?;
                self.once(doing, limit, ask(connection)).await
            }
            other => other,
        }
    }

    async fn once<T>(
        &self,
        doing: &'static str,
        limit: Duration,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, EngineError> {
        match timeout(limit, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(fault)) => Err(self.fault(doing, fault)),
            Err(late) => Err(self.away(doing, Some(Box::new(late)))),
        }
    }

    /// The connection that stands, or a new one.
    pub(super) async fn connection(
        &self,
        doing: &'static str,
    ) -> Result<Connection, EngineError> {
        let held =
            self.held.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(connection) = held {
            return Ok(connection);
        }
        // Two callers may both come here: each makes a connection that is
        // right, and the later one is kept.
        let connection = self.connect(doing).await?;
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(connection.clone());
        Ok(connection)
    }

    async fn connect(
        &self,
        doing: &'static str,
    ) -> Result<Connection, EngineError> {
        let path = self.socket.to_string_lossy();
        let client = Client::connect_with_unix(
            &path,
            CLIENT_LIMIT_S,
            API_DEFAULT_VERSION,
        )
        .map_err(|fault| self.fault(doing, fault))?;
        let said = self.once(doing, AGREE, client.version()).await?;
        let newest = said.api_version.unwrap_or_default();
        let oldest = said.min_api_version.as_deref();
        let oldest = oldest.and_then(ApiVersion::parse).unwrap_or(OLDEST);
        let api = ApiVersion::parse(&newest)
            .and_then(|newest| ApiVersion::agree(newest, oldest))
            .ok_or_else(|| EngineError::Unsupported {
                socket: path.to_string(),
                version: said.version.unwrap_or_default(),
                newest: newest.clone(),
                oldest: oldest.to_string(),
            })?;
        Ok(Connection { client: speaking(client, api), api })
    }

    /// The next call connects anew.
    pub(super) fn forget(&self) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// What an error of the client means for us.
    pub(super) fn fault(
        &self,
        doing: &'static str,
        fault: Error,
    ) -> EngineError {
        if let Error::DockerResponseServerError { status_code, message } = fault
        {
            EngineError::Refused { doing, status: status_code, message }
        } else {
            self.away(doing, Some(Box::new(fault)))
        }
    }

    /// The engine did not answer, or not in a way that tells what it did.
    pub(super) fn away(
        &self,
        doing: &'static str,
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    ) -> EngineError {
        self.forget();
        let socket = self.socket.display().to_string();
        EngineError::Away { socket, doing, source }
    }
}

/// The client names no version in its requests, whatever it was told, and an
/// engine takes that for its own newest, in which a field may mean something
/// else. So the version agreed on is put before every path.
fn speaking(client: Client, api: ApiVersion) -> Client {
    client.with_request_modifier(move |mut request| {
        let mut parts = request.uri().clone().into_parts();
        let path = parts.path_and_query.as_ref().map_or("/", |p| p.as_str());
        if let Ok(versioned) = format!("/v{api}{path}").parse() {
            parts.path_and_query = Some(versioned);
        }
        if let Ok(uri) = parts.try_into() {
            *request.uri_mut() = uri;
        }
        request
    })
}

/// Whether the engine refused to read a request for its version.
pub(super) fn turned_away(fault: &EngineError) -> bool {
    matches!(fault, EngineError::Refused { status: 400, message, .. }
        if message.contains("client version"))
}

/// What the client's own types were made for.
#[expect(
    dead_code,
    reason = "evaluated by the compiler: `NEWEST` must follow the client"
)]
const FOLLOWS: () = {
    let ClientVersion { major_version, minor_version } = *API_DEFAULT_VERSION;
    assert!(major_version == 1 && minor_version == 53);
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_that_both_know_is_spoken() {
        let v = |minor| ApiVersion(1, minor);
        assert_eq!(ApiVersion::agree(v(41), v(12)), Some(v(41)));
        assert_eq!(ApiVersion::agree(v(60), v(44)), Some(NEWEST));
    }

    #[test]
    fn an_engine_too_old_or_too_new_is_not_spoken_to() {
        let v = |minor| ApiVersion(1, minor);
        assert_eq!(ApiVersion::agree(v(24), v(12)), None);
        assert_eq!(ApiVersion::agree(v(70), v(60)), None);
    }

    #[test]
    fn versions_are_numbers_and_not_texts() {
        assert!(ApiVersion::parse("1.9") < ApiVersion::parse("1.41"));
        assert_eq!(ApiVersion::parse("1"), None);
    }
}
