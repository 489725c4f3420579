use crate::sandbox::SOCKET;
use ovnode::engine::Docker;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Stands before the real engine and says another version for it.
pub(crate) struct Proxy {
    socket: PathBuf,
    says: Arc<Mutex<Says>>,
    cut: CancellationToken,
    _folder: Option<TempDir>,
}

struct Says {
    newest: String,
    oldest: String,
    asked: Vec<String>,
    swallowed: Option<String>,
}

impl Proxy {
    pub(crate) fn new(newest: &str, oldest: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("docker.sock");
        let proxy = Self::at(&socket, newest, oldest);
        Self { _folder: Some(folder), ..proxy }
    }

    pub(crate) fn at(socket: &Path, newest: &str, oldest: &str) -> Self {
        let says = Arc::new(Mutex::new(Says {
            newest: newest.to_owned(),
            oldest: oldest.to_owned(),
            asked: Vec::new(),
            swallowed: None,
        }));
        let cut = CancellationToken::new();
        let listener = UnixListener::bind(socket).unwrap();
        let tasks = TaskTracker::new();
        let serve = serve(listener, says.clone(), cut.clone(), tasks.clone());
        tasks.spawn(serve);
        let socket = socket.to_path_buf();
        Self { socket, says, cut, _folder: None }
    }

    pub(crate) fn engine(&self) -> Docker {
        Docker::connect(&self.socket)
    }

    pub(crate) fn becomes(&self, newest: &str, oldest: &str) {
        let mut says = self.says.lock().unwrap();
        newest.clone_into(&mut says.newest);
        oldest.clone_into(&mut says.oldest);
    }

    /// Requests for such a path are taken and never answered.
    pub(crate) fn swallow(&self, part: &str) {
        self.says.lock().unwrap().swallowed = Some(part.to_owned());
    }

    /// Every connection ends now, and there are no more.
    pub(crate) fn cut(&self) {
        self.cut.cancel();
    }

    /// Paths asked for, but for `/version`.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.says.lock().unwrap().asked.clone()
    }
}

async fn serve(
    listener: UnixListener,
    says: Arc<Mutex<Says>>,
    cut: CancellationToken,
    tasks: TaskTracker,
) {
    while let Some(Ok((stream, _))) =
        cut.run_until_cancelled(listener.accept()).await
    {
        let (says, cut) = (says.clone(), cut.clone());
        tasks.spawn(async move {
            cut.run_until_cancelled(answer(stream, says)).await;
        });
    }
}

/// One connection carries one request: the client keeps none open.
async fn answer(mut stream: UnixStream, says: Arc<Mutex<Says>>) {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if stream.read_buf(&mut head).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let text = String::from_utf8_lossy(&head).into_owned();
    let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
    let own = says.lock().unwrap().own_answer(&path);
    match own {
        Some(own) if own.is_empty() => std::future::pending().await,
        Some(own) => drop(stream.write_all(own.as_bytes()).await),
        None => {
            pass_on(stream, text.replacen(&version(&path), "/v1.41", 1)).await
        }
    }
}

async fn pass_on(mut stream: UnixStream, head: String) {
    let mut engine = UnixStream::connect(SOCKET).await.unwrap();
    if engine.write_all(head.as_bytes()).await.is_ok() {
        drop(copy_bidirectional(&mut stream, &mut engine).await);
    }
}

impl Says {
    /// What the proxy answers in the engine's place; empty for silence.
    fn own_answer(&mut self, path: &str) -> Option<String> {
        let (newest, oldest) = (&self.newest, &self.oldest);
        if path == "/version" {
            return Some(http(
                "200 OK",
                &format!(
                    "{{\"Version\":\"0\",\"ApiVersion\":\"{newest}\",\
                 \"MinAPIVersion\":\"{oldest}\"}}"
                ),
            ));
        }
        self.asked.push(path.to_owned());
        if self.swallowed.as_ref().is_some_and(|part| path.contains(part)) {
            return Some(String::new());
        }
        let spoken = version(path);
        let minor = |text: &str| {
            text.rsplit('.').next().and_then(|n| n.parse::<u32>().ok()).unwrap()
        };
        (minor(&spoken) < minor(oldest)).then(|| {
            http("400 Bad Request", &format!(
                "{{\"message\":\"client version {spoken} is too old. Minimum \
                 supported API version is {oldest}\"}}"
            ))
        })
    }
}

/// `/v1.41` of `/v1.41/info`.
fn version(path: &str) -> String {
    let end = path[1..].find('/').map_or(path.len(), |at| at + 1);
    path[..end].to_owned()
}

fn http(status: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}
