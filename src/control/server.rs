use super::Backend;
use super::patience::Patient;
use super::routes::{self, Routes};
use super::socket::{self, Bound, SocketError};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How much of the daemon's patience the socket may use.
#[derive(Clone, Copy, Debug)]
pub struct ControlLimits {
    /// Connections at once: a few people and programs, with room.
    pub connections: usize,
    /// Streams that are followed at once; fewer than the connections, so
    /// that `status` always finds a place.
    pub follows: usize,
    /// From the connection to the end of the request's head.
    pub head: Duration,
    /// From the request to the backend's answer.
    pub answer: Duration,
    /// How long a reader may take nothing.
    pub reader: Duration,
}

impl Default for ControlLimits {
    fn default() -> Self {
        Self {
            connections: 64,
            follows: 32,
            // The other side is a program on this machine.
            head: Duration::from_secs(5),
            // Documents are made from memory; above this something is ill,
            // and the one who asks should hear so.
            answer: Duration::from_secs(5),
            // A person may hold a terminal's scrolling for a moment; what
            // is missed then can be read again.
            reader: Duration::from_secs(30),
        }
    }
}

/// The bound socket, before anyone is answered. The file is gone when the
/// server has ended.
pub struct ControlServer {
    bound: Bound,
    limits: ControlLimits,
}

impl ControlServer {
    /// Binds the socket, so that a second daemon is found out before
    /// anything else is begun.
    ///
    /// # Errors
    /// [`SocketError::Another`] when a daemon answers there already.
    pub async fn bind(
        path: &Path,
        limits: ControlLimits,
    ) -> Result<Self, SocketError> {
        Ok(Self { bound: socket::bind(path).await?, limits })
    }

    /// Answers until `stop`; all that it begins, it begins on `tracker`.
    pub fn serve(
        self,
        backend: Arc<impl Backend>,
        tracker: &TaskTracker,
        stop: CancellationToken,
    ) {
        let routes = Routes::new(backend, &self.limits, stop.clone());
        let task = AcceptTask {
            router: routes::router(routes),
            places: Arc::new(Semaphore::new(self.limits.connections)),
            refusals: Arc::new(Semaphore::new(16)), // they last a moment
            limits: self.limits,
            bound: self.bound,
            tracker: tracker.clone(),
            stop,
        };
        tracker.spawn(task.run());
    }
}

struct AcceptTask {
    bound: Bound,
    router: Router,
    places: Arc<Semaphore>,
    refusals: Arc<Semaphore>,
    limits: ControlLimits,
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl AcceptTask {
    async fn run(self) {
        loop {
            let accepted = tokio::select! {
                biased; // a flood of connections must not hide the stop
                () = self.stop.cancelled() => return,
                accepted = self.bound.listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, _)) => self.admit(stream),
                Err(error) => {
                    // Out of file descriptors, most likely: without a pause
                    // this would turn in circles until one is free.
                    tracing::warn!(%error, "cannot accept on control socket");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    /// Finds a place for a connection. Beyond the last one it is told so,
    /// in a few places more; beyond those it is dropped unheard.
    fn admit(&self, stream: UnixStream) {
        let (router, place) = match take(&self.places) {
            Some(place) => (self.router.clone(), place),
            None => match take(&self.refusals) {
                Some(place) => (routes::full(), place),
                None => return,
            },
        };
        let (limits, stop) = (self.limits, self.stop.clone());
        let serving = Serving { router, limits, stop };
        self.tracker.spawn(serving.run(stream, place));
    }
}

fn take(places: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    places.clone().try_acquire_owned().ok()
}

struct Serving {
    router: Router,
    limits: ControlLimits,
    stop: CancellationToken,
}

impl Serving {
    async fn run(self, stream: UnixStream, _place: OwnedSemaphorePermit) {
        let io = TokioIo::new(Patient::new(stream, self.limits.reader));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head)
            // One request each: an idle connection holds no place.
            .keep_alive(false)
            // What a request's head and a stream's waiting part may hold.
            .max_buf_size(64 << 10)
            .serve_connection(io, TowerToHyperService::new(self.router));
        let mut connection = std::pin::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => Some(ended),
            () = self.stop.cancelled() => None,
        };
        let ended = match ended {
            Some(ended) => ended,
            None => {
                // Followed streams end by the same token; an answer that is
                // on its way gets the time it had anyway.
                connection.as_mut().graceful_shutdown();
                match tokio::time::timeout(self.limits.answer, connection).await
                {
                    Ok(ended) => ended,
                    Err(_) => return,
                }
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "control connection broke off");
        }
    }
}
