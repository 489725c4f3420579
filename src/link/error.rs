use std::io;
use std::path::PathBuf;

/// What can go wrong with the link; each says what we were doing.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// A credentials file could not be read.
    #[error("cannot read credentials from `{path}`")]
    ReadSecret {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A credentials file does not hold what it should.
    #[error("`{path}` does not hold {wanted}")]
    BadSecret {
        /// Which.
        path: PathBuf,
        /// What it should hold.
        wanted: &'static str,
    },
    /// A server's address is not one.
    #[error("`{server}` is not the address of a NATS server")]
    BadServer {
        /// What was given.
        server: String,
        /// Why not.
        source: io::Error,
    },
    /// No server is configured.
    #[error("no NATS server is configured")]
    NoServer,
    /// The server refused our credentials.
    #[error("{server} refused the credentials ({who})")]
    Refused {
        /// The server.
        server: String,
        /// As whom we came, without the secret.
        who: String,
        /// The server's word.
        source: async_nats::ConnectError,
    },
    /// The server could not be reached.
    #[error("cannot connect to {server}")]
    Connect {
        /// The server.
        server: String,
        /// Why.
        source: async_nats::ConnectError,
    },
    /// What was queued was not confirmed by the server in time.
    #[error("the server did not confirm in time what was queued")]
    NotFlushed,
    /// A dispatcher's subscription could not be made.
    #[error("cannot listen on `{subject}`")]
    Listen {
        /// Which.
        subject: String,
        /// Why.
        source: async_nats::SubscribeError,
    },
    /// A node did not answer: what it did is unknown.
    #[error("node {node} did not answer on `{subject}`")]
    NoAnswer {
        /// Which.
        node: String,
        /// Where it was asked.
        subject: String,
        /// Why.
        source: async_nats::RequestError,
    },
    /// A node answered what the contract does not know.
    #[error("node {node} gave an answer that cannot be read")]
    BadAnswer {
        /// Which.
        node: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A job has no id of the contract's form.
    #[error("the job has no id like `job_01ARZ3NDEKTSV4RRFFQ69G5FAV`")]
    NoJobId,
    /// The link has ended.
    #[error("the link has ended")]
    Gone,
}

/// An error and its causes in one line, for states and logs.
pub(super) fn chain(err: &dyn std::error::Error) -> String {
    let mut text = err.to_string();
    let mut next = err.source();
    while let Some(source) = next {
        let more = source.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        next = source.source();
    }
    text
}
