//! The local socket keeps its promises to whoever asks, and to the daemon.

use ovnode::contract::JobId;
use ovnode::control::{
    ClientError, ControlClient, ControlLimits, ControlServer, FakeBackend,
    Payload, SocketError,
};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

const JOB: &str = "job_01J9ZQ4W6K8V3M2N7P5R1T0BBB";
const OTHER: &str = "job_01J9ZQ4W6K8V3M2N7P5R1T0CCC";

/// Far above what anything here takes; it only ends a test that hangs.
const EVER: Duration = Duration::from_secs(20);

/// A daemon's socket in a folder of its own.
struct Daemon {
    folder: tempfile::TempDir,
    backend: Arc<FakeBackend>,
    tracker: TaskTracker,
    stop: CancellationToken,
}

#[expect(clippy::unwrap_used, reason = "a test's harness")]
impl Daemon {
    async fn run(limits: ControlLimits) -> Self {
        Self::with(limits, |_| ()).await
    }

    async fn with(
        limits: ControlLimits,
        dress: impl FnOnce(&mut FakeBackend),
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut backend = FakeBackend::new(r#"{"version":"1"}"#, job(JOB));
        dress(&mut backend);
        let daemon = Self {
            folder,
            backend: Arc::new(backend),
            tracker: TaskTracker::new(),
            stop: CancellationToken::new(),
        };
        let socket = daemon.socket();
        let server = ControlServer::bind(&socket, limits).await.unwrap();
        let backend = daemon.backend.clone();
        server.serve(backend, &daemon.tracker, daemon.stop.clone());
        daemon
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("control.sock")
    }

    fn client(&self) -> ControlClient {
        ControlClient::new(self.socket()).with_patience(EVER)
    }

    /// Says `request` and gives all that is answered.
    async fn raw(&self, request: &[u8]) -> String {
        let mut stream = UnixStream::connect(self.socket()).await.unwrap();
        // The daemon may hang up before it has read all of it.
        drop(stream.write_all(request).await);
        let mut answer = Vec::new();
        drop(in_time(stream.read_to_end(&mut answer)).await);
        String::from_utf8_lossy(&answer).into_owned()
    }

    async fn open_streams_are(&self, wanted: usize) {
        let mut open = self.backend.open_streams();
        in_time(open.wait_for(|open| *open == wanted)).await.unwrap();
    }

    async fn stopped(&self) {
        self.stop.cancel();
        self.tracker.close();
        in_time(self.tracker.wait()).await;
    }
}

#[expect(clippy::unwrap_used, reason = "a test's harness")]
async fn in_time<T>(wanted: impl Future<Output = T>) -> T {
    tokio::time::timeout(EVER, wanted).await.unwrap()
}

#[expect(clippy::unwrap_used, reason = "a test's harness")]
fn job(id: &str) -> JobId {
    JobId::try_from(id.to_owned()).unwrap()
}

#[tokio::test]
async fn every_document_is_passed_on_as_the_daemon_made_it() {
    let daemon = Daemon::run(ControlLimits::default()).await;
    let client = daemon.client();
    let status = client.get("/v1/status").await.unwrap();
    assert_eq!(status, r#"{"version":"1"}"#);
    assert!(client.get("/v1/jobs").await.unwrap().starts_with(b"{\"jobs\":["));
    let one = client.get(&format!("/v1/jobs/{JOB}")).await.unwrap();
    assert!(one.starts_with(format!(r#"{{"id":"{JOB}""#).as_bytes()));
    assert_eq!(client.get("/v1/offers").await.unwrap(), "[]");
}

#[tokio::test]
async fn what_is_asked_to_be_done_reaches_the_daemon() {
    let daemon = Daemon::run(ControlLimits::default()).await;
    let client = daemon.client();
    client.post(&format!("/v1/jobs/{JOB}/cancel")).await.unwrap();
    let probe = client.post("/v1/probe").await.unwrap_err();
    assert_eq!(
        probe.to_string(),
        "the daemon refuses: the container engine does not answer (503)"
    );
    let asked = daemon.backend.asked.lock().unwrap().clone();
    assert_eq!(asked, [format!("cancel {JOB}"), "probe".to_owned()]);
}

#[tokio::test]
async fn a_job_that_is_not_known_is_said_to_be_so_on_every_path() {
    let daemon = Daemon::run(ControlLimits::default()).await;
    let client = daemon.client();
    let wanted = format!("this node knows no job {OTHER}");
    let path = format!("/v1/jobs/{OTHER}");
    let cancel = format!("{path}/cancel");
    let logs = format!("{path}/logs?follow=1");
    for error in [
        client.get(&path).await.unwrap_err(),
        client.post(&cancel).await.unwrap_err(),
        client.stream(&logs).await.err().unwrap(),
    ] {
        assert!(matches!(error, ClientError::NotFound { .. }), "{error:?}");
        assert_eq!(error.to_string(), wanted);
    }
}

#[tokio::test]
async fn what_is_not_a_job_id_path_or_method_is_refused_with_a_sentence() {
    let daemon = Daemon::run(ControlLimits::default()).await;
    let client = daemon.client();
    let bad = client.get("/v1/jobs/job_1").await.unwrap_err().to_string();
    assert!(bad.contains("`job_1` is not a job id"), "{bad}");
    let path = client.get("/v2/status").await.unwrap_err();
    assert!(matches!(path, ClientError::NotFound { .. }));
    let method = client.post("/v1/status").await.unwrap_err().to_string();
    assert!(method.contains("(405)"), "{method}");
}

#[tokio::test]
async fn kept_output_ends_and_followed_offers_come_a_line_each() {
    let daemon = Daemon::with(ControlLimits::default(), |daemon| {
        daemon.output =
            vec![Payload::from_static(b"{}"), Payload::from_static(b"[1]")];
    })
    .await;
    let logs = format!("/v1/jobs/{JOB}/logs");
    for (path, wanted) in
        [(logs.as_str(), "{}[1]"), ("/v1/offers?follow=1", "{}\n[1]\n")]
    {
        let mut stream = daemon.client().stream(path).await.unwrap();
        let mut all = Vec::new();
        while let Some(piece) = in_time(stream.next()).await.unwrap() {
            all.extend_from_slice(&piece);
        }
        assert_eq!(String::from_utf8(all).unwrap(), wanted);
    }
    daemon.open_streams_are(0).await;
}

fn endless(daemon: &mut FakeBackend) {
    daemon.output = vec![Payload::from(vec![b'y'; 16 << 10])];
    daemon.endless = true;
}

fn followed() -> String {
    format!("/v1/jobs/{JOB}/logs?follow=1")
}

#[tokio::test]
async fn a_reader_that_never_reads_is_dropped() {
    let reader = Duration::from_millis(50);
    let limits = ControlLimits { reader, ..ControlLimits::default() };
    let daemon = Daemon::with(limits, endless).await;
    let mut deaf = UnixStream::connect(daemon.socket()).await.unwrap();
    let request = format!("GET {} HTTP/1.1\r\nhost: x\r\n\r\n", followed());
    deaf.write_all(request.as_bytes()).await.unwrap();
    daemon.open_streams_are(1).await;
    daemon.open_streams_are(0).await;
}

#[tokio::test]
async fn a_reader_that_goes_away_ends_its_stream() {
    let daemon = Daemon::with(ControlLimits::default(), endless).await;
    let mut stream = daemon.client().stream(&followed()).await.unwrap();
    assert!(in_time(stream.next()).await.unwrap().is_some());
    daemon.open_streams_are(1).await;
    drop(stream);
    daemon.open_streams_are(0).await;
}

#[tokio::test]
async fn followers_beyond_the_limit_are_refused_and_the_status_is_not() {
    let limits = ControlLimits { follows: 1, ..ControlLimits::default() };
    let daemon = Daemon::with(limits, endless).await;
    let first = daemon.client().stream(&followed()).await.unwrap();
    let second = daemon.client().stream(&followed()).await.err().unwrap();
    assert!(second.to_string().contains("(429)"), "{second}");
    daemon.client().get("/v1/status").await.unwrap();
    drop(first);
    daemon.open_streams_are(0).await;
}

#[tokio::test]
async fn connections_beyond_the_limit_are_told_so_at_once() {
    let limits = ControlLimits { connections: 0, ..ControlLimits::default() };
    let daemon = Daemon::run(limits).await;
    let full = daemon.client().get("/v1/status").await.unwrap_err();
    assert!(full.to_string().contains("too many connections"), "{full}");
}

#[tokio::test]
async fn a_stop_ends_streams_cleanly_and_removes_the_socket() {
    let daemon = Daemon::with(ControlLimits::default(), endless).await;
    let mut stream = daemon.client().stream(&followed()).await.unwrap();
    assert!(in_time(stream.next()).await.unwrap().is_some());
    daemon.stop.cancel();
    while in_time(stream.next()).await.unwrap().is_some() {}
    daemon.stopped().await;
    assert!(!daemon.socket().exists());
}

#[tokio::test]
async fn half_a_request_is_given_up_after_its_time() {
    let head = Duration::from_millis(50);
    let limits = ControlLimits { head, ..ControlLimits::default() };
    let daemon = Daemon::run(limits).await;
    // It ends although this side neither sends the rest nor hangs up.
    let answer = daemon.raw(b"GET /v1/status HTTP/1.1\r\nhos").await;
    assert!(!answer.contains("200"), "{answer}");
    let silence = daemon.raw(b"").await;
    assert!(!silence.contains("200"), "{silence}");
}

#[tokio::test]
async fn requests_that_are_too_large_are_refused() {
    let daemon = Daemon::run(ControlLimits::default()).await;
    let body = b"POST /v1/probe HTTP/1.1\r\nhost: x\r\n\
        content-length: 9000000\r\n\r\n";
    let answer = daemon.raw(body).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    let mut head = b"GET /v1/status HTTP/1.1\r\nx: ".to_vec();
    head.resize(200_000, b'x');
    let answer = daemon.raw(&head).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"));
    assert!(daemon.backend.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_is_not_http_hurts_nobody() {
    let daemon = Daemon::run(ControlLimits::default()).await;
    let answer = daemon.raw(b"\x00\xffPING\r\n\r\n").await;
    assert!(!answer.contains("200"), "{answer}");
    daemon.client().get("/v1/status").await.unwrap();
}

#[tokio::test]
async fn a_daemon_that_hangs_is_told_from_one_that_is_not_there() {
    let answer = Duration::from_millis(20);
    let limits = ControlLimits { answer, ..ControlLimits::default() };
    let daemon =
        Daemon::with(limits, |daemon| daemon.status = Payload::new()).await;
    let hung = daemon.client().get("/v1/status").await.unwrap_err();
    assert!(hung.to_string().contains("no answer after 20ms"), "{hung}");

    let socket = daemon.folder.path().join("deaf.sock");
    let _deaf = UnixListener::bind(&socket).unwrap();
    let client =
        ControlClient::new(&socket).with_patience(Duration::from_millis(20));
    let silent = client.get("/v1/status").await.unwrap_err();
    assert!(matches!(silent, ClientError::Silent { .. }), "{silent:?}");
    assert!(silent.to_string().contains("does not answer in 0.02 s"));

    let nobody = daemon.folder.path().join("nobody.sock");
    let client = ControlClient::new(&nobody);
    let absent = client.get("/v1/status").await.unwrap_err().to_string();
    assert!(absent.starts_with("ovnode does not run here"), "{absent}");
}

#[tokio::test]
async fn a_socket_that_a_dead_daemon_left_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("control.sock");
    drop(UnixListener::bind(&socket).unwrap());
    assert!(socket.exists());
    let limits = ControlLimits::default();
    let server = ControlServer::bind(&socket, limits).await.unwrap();
    UnixStream::connect(&socket).await.unwrap();
    drop(server);
    assert!(!socket.exists());
}

#[tokio::test]
async fn a_second_daemon_is_refused_and_the_first_goes_on() {
    let daemon = Daemon::run(ControlLimits::default()).await;
    let second =
        ControlServer::bind(&daemon.socket(), ControlLimits::default()).await;
    let error = second.err().unwrap();
    assert!(error.to_string().starts_with("another ovnode runs"), "{error}");
    daemon.client().get("/v1/status").await.unwrap();
}

#[tokio::test]
async fn a_stranger_who_answers_at_the_socket_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("control.sock");
    let _stranger = UnixListener::bind(&socket).unwrap();
    let bound = ControlServer::bind(&socket, ControlLimits::default()).await;
    assert!(matches!(bound.err(), Some(SocketError::Another { .. })));
    UnixStream::connect(&socket).await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_no_socket_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("control.sock");
    std::fs::write(&socket, "precious").unwrap();
    let bound = ControlServer::bind(&socket, ControlLimits::default()).await;
    assert!(matches!(bound.err(), Some(SocketError::NotASocket { .. })));
    assert_eq!(std::fs::read(&socket).unwrap(), b"precious");
}

#[tokio::test]
async fn the_socket_is_for_its_owner_and_group_alone() {
    let daemon = Daemon::run(ControlLimits::default()).await;
    let meta = std::fs::metadata(daemon.socket()).unwrap();
    assert_eq!(meta.permissions().mode() & 0o777, 0o660);
    assert_eq!(meta.uid(), rustix::process::getuid().as_raw());
}

/// Run by the test below, as another user: it only asks, and prints.
#[tokio::test]
#[ignore = "a part of the test below"]
async fn asks_as_another_user() {
    let socket = PathBuf::from(
        std::env::var_os("OVNODE_TEST_SOCKET").expect("the socket's path"),
    );
    let error = ControlClient::new(socket).get("/v1/status").await.err();
    assert_eq!(error.map(|e| e.to_string()), None);
}

#[tokio::test]
async fn one_without_rights_is_told_which_group_to_join() {
    use std::os::unix::process::CommandExt as _;
    if !rustix::process::getuid().is_root() {
        return; // Only root can become someone else.
    }
    let daemon = Daemon::run(ControlLimits::default()).await;
    let folder = daemon.folder.path();
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder, open).unwrap();
    // A copy, as the build folder may be closed to others.
    let exe = folder.join("asks");
    std::fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    let asked = std::process::Command::new(&exe)
        .args(["--ignored", "--exact", "asks_as_another_user"])
        .env("OVNODE_TEST_SOCKET", daemon.socket())
        .current_dir("/")
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&asked.stdout).into_owned()
        + &String::from_utf8_lossy(&asked.stderr);
    assert!(said.contains("permission denied at"), "{said}");
    assert!(said.contains("usermod -aG ovnode"), "{said}");
}
