use super::Payload;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, Connection};
use hyper::{Method, Request, Response, header};
use hyper_util::rt::TokioIo;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use tokio::net::UnixStream;

/// Far above any document (a job's is a kilobyte): what answers there with
/// more is not ovnode.
const ANSWER_BYTES: usize = 32 << 20;

type Boxed = Box<dyn std::error::Error + Send + Sync>;

/// Why there is no answer, as a sentence that says what to do next.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No socket, or nobody behind it.
    #[error(
        "ovnode does not run here: nobody answers at `{socket}`; start it \
         with `systemctl start ovnode`, or by hand with `ovnode run`"
    )]
    NotRunning {
        /// The socket.
        socket: PathBuf,
    },
    /// The socket is not for this user.
    #[error(
        "permission denied at `{socket}`: it is for root and the group \
         `ovnode`; join it (`sudo groupadd -f ovnode; sudo usermod -aG ovnode <you>`) and log in again"
    )]
    Denied {
        /// The socket.
        socket: PathBuf,
    },
    /// Someone is there and says nothing.
    #[error(
        "the daemon at `{socket}` does not answer in {} s; its log says more \
         (`journalctl -u ovnode`)",
        .after.as_secs_f32()
    )]
    Silent {
        /// The socket.
        socket: PathBuf,
        /// For how long we waited.
        after: Duration,
    },
    /// What was asked for is not there.
    #[error("{message}")]
    NotFound {
        /// The daemon's own words.
        message: String,
    },
    /// The daemon answers, and not with what was asked for.
    #[error("the daemon refuses: {message} ({status})")]
    Refused {
        /// HTTP status.
        status: u16,
        /// The daemon's own words.
        message: String,
    },
    /// The connection ended before the answer did.
    #[error("the daemon at `{socket}` broke off in the middle of its answer")]
    Broken {
        /// The socket.
        socket: PathBuf,
        /// Why.
        source: Boxed,
    },
    /// The connection could not be made, for none of the usual reasons.
    #[error("cannot connect to `{socket}`")]
    Connect {
        /// The socket.
        socket: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Asks the daemon over its socket; a connection for each question.
#[derive(Clone, Debug)]
pub struct ControlClient {
    socket: PathBuf,
    patience: Duration,
}

impl ControlClient {
    /// A client of the daemon at `socket`.
    pub fn new(socket: impl Into<PathBuf>) -> Self {
        // A little above the daemon's own 5 s, whose sentence is better.
        let patience = Duration::from_secs(7);
        Self { socket: socket.into(), patience }
    }

    /// The same with another limit for an answer.
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The document at `path`.
    ///
    /// # Errors
    /// Each variant of [`ClientError`] asks for another thing to be done.
    pub async fn get(&self, path: &str) -> Result<Payload, ClientError> {
        self.document(Method::GET, path).await
    }

    /// Asks for something to be done.
    ///
    /// # Errors
    /// As [`ControlClient::get`].
    pub async fn post(&self, path: &str) -> Result<Payload, ClientError> {
        self.document(Method::POST, path).await
    }

    /// What follows at `path`. Only its beginning is waited for with a
    /// limit.
    ///
    /// # Errors
    /// As [`ControlClient::get`].
    pub async fn stream(
        &self,
        path: &str,
    ) -> Result<ControlStream, ClientError> {
        let exchange = self.bounded(self.exchange(Method::GET, path)).await?;
        if exchange.response.status().is_success() {
            return Ok(ControlStream {
                body: exchange.response.into_body(),
                wire: exchange.wire,
                socket: self.socket.clone(),
            });
        }
        match self.bounded(self.whole(exchange)).await {
            // A refusal is an error already; there is nothing to follow.
            Ok(_) => Err(self.broken("no stream")),
            Err(refused) => Err(refused),
        }
    }

    async fn document(
        &self,
        method: Method,
        path: &str,
    ) -> Result<Payload, ClientError> {
        self.bounded(async {
            let exchange = self.exchange(method, path).await?;
            self.whole(exchange).await
        })
        .await
    }

    async fn bounded<T>(
        &self,
        answer: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        match tokio::time::timeout(self.patience, answer).await {
            Ok(answer) => answer,
            Err(_) => Err(ClientError::Silent {
                socket: self.socket.clone(),
                after: self.patience,
            }),
        }
    }

    /// Connects, asks, and waits for the answer's head.
    async fn exchange(
        &self,
        method: Method,
        path: &str,
    ) -> Result<Exchange, ClientError> {
        let stream = UnixStream::connect(&self.socket)
            .await
            .map_err(|e| unreachable_socket(&self.socket, e))?;
        let (mut sender, connection) =
            http1::handshake::<_, Empty<Payload>>(TokioIo::new(stream))
                .await
                .map_err(|e| self.broken(e))?;
        let mut wire = Wire(Some(Box::pin(connection)));
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, "ovnode")
            .body(Empty::new())
            .map_err(|e| self.broken(e))?;
        let response = wire
            .beside(sender.send_request(request))
            .await
            .map_err(|e| self.broken(e))?;
        Ok(Exchange { response, wire })
    }

    async fn whole(&self, exchange: Exchange) -> Result<Payload, ClientError> {
        let Exchange { response, mut wire } = exchange;
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_BYTES);
        let body = wire
            .beside(body.collect())
            .await
            .map_err(|e| self.broken(e))?
            .to_bytes();
        if status.is_success() {
            return Ok(body);
        }
        let message = message_of(&body);
        if status.as_u16() == 404 {
            return Err(ClientError::NotFound { message });
        }
        Err(ClientError::Refused { status: status.as_u16(), message })
    }

    fn broken(&self, source: impl Into<Boxed>) -> ClientError {
        let socket = self.socket.clone();
        ClientError::Broken { socket, source: source.into() }
    }
}

/// What follows, piece by piece as the daemon sends it.
pub struct ControlStream {
    body: Incoming,
    wire: Wire,
    socket: PathBuf,
}

impl ControlStream {
    /// The next piece; `None` at the end. Cancel-safe.
    ///
    /// # Errors
    /// [`ClientError::Broken`] when it ends before its end.
    pub async fn next(&mut self) -> Result<Option<Payload>, ClientError> {
        loop {
            let Some(frame) = self.wire.beside(self.body.frame()).await else {
                return Ok(None);
            };
            let frame = frame.map_err(|e| ClientError::Broken {
                socket: self.socket.clone(),
                source: e.into(),
            })?;
            // Trailers are not for us.
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
    }
}

struct Exchange {
    response: Response<Incoming>,
    wire: Wire,
}

/// The connection, driven by whoever waits for something from it: a task of
/// its own would need an owner.
struct Wire(Option<Pin<Box<Http>>>);

type Http = Connection<TokioIo<UnixStream>, Empty<Payload>>;

impl Wire {
    async fn beside<T>(&mut self, wanted: impl Future<Output = T>) -> T {
        let mut wanted = std::pin::pin!(wanted);
        std::future::poll_fn(|cx| {
            if let Some(wire) = &mut self.0
                && wire.as_mut().poll(cx).is_ready()
            {
                // Its error, if any, reaches what is wanted as well.
                self.0 = None;
            }
            match wanted.as_mut().poll(cx) {
                Poll::Ready(got) => Poll::Ready(got),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }
}

fn unreachable_socket(socket: &Path, source: io::Error) -> ClientError {
    let socket = socket.to_owned();
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the list of kinds is the system's, and open"
    )]
    match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
            ClientError::NotRunning { socket }
        }
        io::ErrorKind::PermissionDenied => ClientError::Denied { socket },
        _ => ClientError::Connect { socket, source },
    }
}

fn message_of(body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Refusal {
        error: String,
    }
    match serde_json::from_slice::<Refusal>(body) {
        Ok(refusal) => refusal.error,
        Err(_) => "it gives no reason".to_owned(),
    }
}
