//! The commands that ask the daemon, as programs and pipes see them.

use ovnode::contract::JobId;
use ovnode::control::{ControlLimits, ControlServer, FakeBackend, Payload};
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

const JOB: &str = "job_01J9ZQ4W6K8V3M2N7P5R1T0BBB";
const OTHER: &str = "job_01J9ZQ4W6K8V3M2N7P5R1T0CCC";
const WELL: &str = include_str!("fixtures/status/well.json");
const DEGRADED: &str = include_str!("fixtures/status/degraded.json");

/// Far above what anything here takes; it only ends a test that hangs.
const EVER: Duration = Duration::from_secs(60);

/// A daemon's socket, and the commands that ask there.
struct Node {
    folder: tempfile::TempDir,
    backend: Arc<FakeBackend>,
    stop: CancellationToken,
}

impl Drop for Node {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

#[expect(clippy::unwrap_used, reason = "a test's harness")]
impl Node {
    async fn saying(
        status: &'static str,
        dress: impl FnOnce(&mut FakeBackend),
    ) -> Self {
        let id = JobId::try_from(JOB.to_owned()).unwrap();
        let mut backend = FakeBackend::new(status, id);
        dress(&mut backend);
        let node = Self {
            folder: tempfile::tempdir().unwrap(),
            backend: Arc::new(backend),
            stop: CancellationToken::new(),
        };
        let limits = ControlLimits::default();
        let server = ControlServer::bind(&node.socket(), limits).await;
        let (backend, stop) = (node.backend.clone(), node.stop.clone());
        server.unwrap().serve(backend, &TaskTracker::new(), stop);
        node
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("control.sock")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ovnode"));
        command
            .arg("--socket")
            .arg(self.socket())
            .args(args)
            .env("LC_ALL", "C.UTF-8")
            .env_remove("COLUMNS")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    async fn ran(&self, args: &[&str]) -> Ran {
        let output = self.command(args).output();
        Ran::of(tokio::time::timeout(EVER, output).await.unwrap().unwrap())
    }
}

/// What a command printed and how it ended.
struct Ran {
    code: Option<i32>,
    out: Vec<u8>,
    err: String,
}

impl Ran {
    fn of(output: Output) -> Self {
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        Self { code: output.status.code(), out: output.stdout, err }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }
}

#[tokio::test]
async fn status_is_0_for_a_node_that_is_well_and_1_for_one_that_is_not() {
    let ran = Node::saying(WELL, |_| ()).await.ran(&["status"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.text().contains("health   up"), "{}", ran.text());
    assert!(!ran.text().contains('\x1b'));
    let ran = Node::saying(DEGRADED, |_| ()).await.ran(&["status"]).await;
    assert_eq!(ran.code, Some(1));
    assert!(ran.text().contains("3.0 GiB wanted"), "{}", ran.text());
}

#[tokio::test]
async fn status_json_is_the_daemons_own_document() {
    let node = Node::saying(DEGRADED, |_| ()).await;
    let ran = node.ran(&["status", "--json"]).await;
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.text().trim_end(), DEGRADED.trim_end());
}

#[tokio::test]
async fn status_watch_says_it_again() {
    let one_line = r#"{"health":{"status":"up"}}"#;
    let node = Node::saying(one_line, |_| ()).await;
    let mut watch = node
        .command(&["status", "--watch", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    for _ in 0..2 {
        let line = tokio::time::timeout(EVER, lines.next_line()).await;
        assert_eq!(line.unwrap().unwrap().as_deref(), Some(one_line));
    }
    // Whoever has seen enough hangs up, and that is no failure.
    drop(lines);
    let ended = tokio::time::timeout(EVER, watch.wait()).await;
    assert_eq!(ended.unwrap().unwrap().code(), Some(0));
}

#[tokio::test]
async fn without_a_daemon_every_command_is_69_and_says_what_to_do() {
    let node = Node::saying(WELL, |_| ()).await;
    let nobody = node.folder.path().join("nobody.sock");
    let socket = nobody.to_str().unwrap();
    for args in [
        &["status"][..],
        &["status", "--watch"],
        &["jobs"],
        &["job", JOB],
        &["logs", JOB, "-f"],
        &["offers"],
        &["offers", "--watch"],
        &["cancel", JOB],
    ] {
        let mut all = args.to_vec();
        all.extend(["--socket", socket]);
        let output = Command::new(env!("CARGO_BIN_EXE_ovnode"))
            .args(&all)
            .output()
            .await
            .unwrap();
        let ran = Ran::of(output);
        assert_eq!(ran.code, Some(69), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("systemctl start ovnode"), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        assert!(ran.out.is_empty());
    }
}

#[tokio::test]
async fn a_job_that_is_not_known_is_1_and_what_is_no_id_is_2() {
    let node = Node::saying(WELL, |_| ()).await;
    for command in ["job", "logs", "cancel"] {
        let ran = node.ran(&[command, OTHER]).await;
        assert_eq!(ran.code, Some(1));
        let wanted = format!("ovnode: this node knows no job {OTHER}\n");
        assert_eq!(ran.err, wanted);
        let ran = node.ran(&[command, "../status"]).await;
        assert_eq!(ran.code, Some(2));
        assert!(ran.err.contains("not a job id"), "{}", ran.err);
    }
}

#[tokio::test]
async fn jobs_and_one_job_are_listed() {
    let node = Node::saying(WELL, |_| ()).await;
    let ran = node.ran(&["jobs"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.text().starts_with(&format!("{JOB} code")));
    let ran = node.ran(&["job", JOB]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.text().starts_with(&format!("job        {JOB}")));
}

#[tokio::test]
async fn a_pipe_gets_the_very_bytes_of_a_jobs_output() {
    let bytes: &[u8] = b"\x1b[2J\xff\0\r\nno end";
    let node = Node::saying(WELL, |daemon| {
        daemon.output = bytes.chunks(3).map(Payload::from_static).collect();
    })
    .await;
    for follow in [&["logs", JOB][..], &["logs", JOB, "-f"]] {
        let ran = node.ran(follow).await;
        assert_eq!((ran.code, ran.out.as_slice()), (Some(0), bytes));
    }
}

#[tokio::test]
async fn cancel_says_what_was_begun() {
    let node = Node::saying(WELL, |_| ()).await;
    let ran = node.ran(&["cancel", JOB]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.text().contains("is being ended"));
    let asked = node.backend.asked.lock().unwrap().clone();
    assert_eq!(asked, [format!("cancel {JOB}")]);
}

#[tokio::test]
async fn offers_are_followed_a_document_a_line() {
    let offer = r#"{"offer_id":"off_a","health":{"status":"up"}}"#;
    let node = Node::saying(WELL, |daemon| {
        daemon.output = vec![Payload::from_static(offer.as_bytes()); 2];
    })
    .await;
    let ran = node.ran(&["offers", "--watch", "--json"]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(ran.text(), format!("{offer}\n{offer}\n"));
    let ran = node.ran(&["offers", "--watch"]).await;
    assert!(ran.text().starts_with("off_a up\n"), "{}", ran.text());
    let ran = node.ran(&["offers"]).await;
    assert_eq!(ran.text(), "no offers are published\n");
}
