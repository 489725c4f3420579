use crate::contract::{NodeId, Timestamp, Token};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What a link must be told.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Server URLs, tried in turn.
    pub servers: Vec<String>,
    /// Who we are to the server.
    pub auth: LinkAuth,
    /// How the connection is protected.
    pub tls: LinkTls,
    /// The first token of every subject.
    pub prefix: Token,
    /// What reply subjects begin with; the client's own `_INBOX` where
    /// permissions pin none.
    pub inbox_prefix: Option<String>,
    /// The node's id.
    pub node: NodeId,
    /// Random for each start of the daemon (a ULID): tells two daemons under
    /// one id apart.
    pub instance: String,
    /// When this daemon started: of two under one id the later one yields.
    pub started: Timestamp,
    /// The node's name for people.
    pub node_name: String,
    /// The daemon's version, semantic.
    pub version: String,
    /// Intervals and limits.
    pub timing: LinkTiming,
}

/// Who we are to the server. Files are read again for every attempt, so
/// credentials rotated on disk need no restart.
#[derive(Clone, Debug, Default)]
pub enum LinkAuth {
    /// Nobody in particular.
    #[default]
    None,
    /// A credentials file: a JWT and its seed.
    CredsFile(PathBuf),
    /// A file that holds an NKEY seed.
    NkeySeedFile(PathBuf),
    /// A token.
    Token(Secret),
    /// A user's name and password.
    UserPassword {
        /// The name.
        user: String,
        /// The password.
        password: Secret,
    },
}

/// A secret that no debug output shows.
#[derive(Clone)]
pub enum Secret {
    /// Itself.
    Text(String),
    /// The first line of a file.
    File(PathBuf),
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => f.write_str("Text(..)"),
            Self::File(path) => write!(f, "File({})", path.display()),
        }
    }
}

/// How the connection is protected. Files are read for every attempt.
#[derive(Clone, Debug, Default)]
pub struct LinkTls {
    /// Refuse a server that does not speak TLS.
    pub required: bool,
    /// Certificates to trust; the system's where absent.
    pub roots: Option<PathBuf>,
    /// Our own certificate and its key.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

/// Intervals and limits of a link. The defaults are for a fleet; tests use
/// shorter ones.
#[derive(Clone, Copy, Debug)]
pub struct LinkTiming {
    /// Between pings of an otherwise silent connection. The client gives up
    /// at the third without an answer.
    pub ping: Duration,
    /// Limit of one attempt to connect.
    pub connect: Duration,
    /// The first pause between attempts, at most; doubles from there.
    pub retry_base: Duration,
    /// The longest pause between attempts.
    pub retry_cap: Duration,
    /// The first pause after refused credentials, at most.
    pub refused_base: Duration,
    /// The longest pause after refused credentials.
    pub refused_cap: Duration,
    /// A session shorter than this does not reset the pauses.
    pub stable_after: Duration,
    /// Between messages to ourselves.
    pub echo_every: Duration,
    /// A message to ourselves not back by then means that we are deaf.
    pub echo_limit: Duration,
    /// How long others under our id are listened for.
    pub rival_window: Duration,
    /// When, after it serves, the node listens for others a second time.
    pub rival_again: Duration,
    /// Between two looks of a node that yielded.
    pub rival_recheck: Duration,
    /// After a reconnect, offers are said again somewhere within this.
    pub offers_window: Duration,
    /// Longest wait for the client to take one message.
    pub publish: Duration,
}

impl Default for LinkTiming {
    fn default() -> Self {
        let secs = Duration::from_secs;
        Self {
            // Three silent intervals are 12 s; with 15 s promised, that
            // leaves room for a busy machine.
            ping: secs(4),
            connect: secs(5),
            retry_base: secs(1),
            // A fleet of 10,000 over 30 s is some 300 connections a second.
            retry_cap: secs(30),
            // Who was refused will most likely be refused again; a changed
            // file ends the wait early.
            refused_base: secs(10),
            refused_cap: secs(300),
            stable_after: secs(60),
            // 5 s and 8 s together stay under the promised 15 s too.
            echo_every: secs(5),
            echo_limit: secs(8),
            // Several round trips between continents.
            rival_window: Duration::from_millis(500),
            rival_again: secs(2),
            rival_recheck: secs(30),
            // Half an interval of offers: nobody is forgotten meanwhile.
            offers_window: secs(5),
            publish: secs(5),
        }
    }
}
