//! A daemon of the test's own: its own state, socket, prefix and id, over
//! the machine's real engine.

use super::wait::eventually;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// What a test may want otherwise than most.
#[derive(Clone, Debug)]
pub(crate) struct Wants {
    /// The NATS server, as `nats://127.0.0.1:4222`.
    pub(crate) nats: String,
    /// The engine's socket.
    pub(crate) engine: PathBuf,
    /// The state directory; one of its own where there is none.
    pub(crate) state: Option<PathBuf>,
    /// Slots of class `function`.
    pub(crate) slots: u32,
    /// Added to the end of the config.
    pub(crate) more: String,
}

impl Wants {
    /// Four slots, the machine's engine.
    pub(crate) fn over(nats: &str) -> Self {
        Self {
            nats: nats.to_owned(),
            engine: "/var/run/docker.sock".into(),
            state: None,
            slots: 4,
            more: String::new(),
        }
    }
}

/// A running daemon; ended, and its containers gone, when it is dropped.
pub(crate) struct Daemon {
    /// Its node id, a prefix of no other test's.
    pub(crate) node: String,
    dir: TempDir,
    child: Option<Child>,
}

impl Daemon {
    /// Starts one; it may not be ready yet.
    pub(crate) fn start(wants: &Wants) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let nth = COUNT.fetch_add(1, Ordering::Relaxed);
        let node = format!("node_test_{}_{nth}", std::process::id());
        let dir = tempfile::tempdir().unwrap();
        let mut daemon = Self { node, dir, child: None };
        fs::write(daemon.config(), daemon.config_text(wants)).unwrap();
        daemon.run_again();
        daemon
    }

    /// Starts one and waits until it offers `function`.
    pub(crate) async fn ready(wants: &Wants) -> Self {
        let daemon = Self::start(wants);
        daemon.offers_function().await;
        daemon
    }

    /// Waits until class `function` is offered.
    pub(crate) async fn offers_function(&self) {
        eventually("function is offered", Duration::from_secs(60), || {
            let class = self.status()?["classes"][0].clone();
            (class["offered"] == true).then_some(())
        })
        .await;
    }

    /// Starts it again, over the same state.
    pub(crate) fn run_again(&mut self) {
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.path("log"))
            .unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_ovnode"))
            .args(["run", "--config"])
            .arg(self.config())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        self.child = Some(child);
    }

    /// The status document, if the daemon answers.
    pub(crate) fn status(&self) -> Option<Value> {
        let said = self.ovnode(&["status", "--json"]);
        serde_json::from_slice(&said.stdout).ok()
    }

    /// Runs a command of ovnode against this daemon.
    pub(crate) fn ovnode(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_ovnode"))
            .arg("--config")
            .arg(self.config())
            .args(args)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Its log so far.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// Whether the process lives.
    pub(crate) fn lives(&mut self) -> bool {
        let child = self.child.as_mut().unwrap();
        child.try_wait().unwrap().is_none()
    }

    /// Ends it as a crash would.
    pub(crate) fn crash(&mut self) {
        let mut child = self.child.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let child = self.child.as_ref().unwrap();
        let pid = rustix::process::Pid::from_child(child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Asks it to end, and waits until it has.
    pub(crate) fn stop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let pid = rustix::process::Pid::from_child(&child);
        let term = rustix::process::Signal::TERM;
        rustix::process::kill_process(pid, term).unwrap();
        for _ in 0..300 {
            if child.try_wait().unwrap().is_some() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        panic!("the daemon did not end within 30 s of TERM");
    }

    /// Containers with this node's label, running or not.
    pub(crate) fn containers(&self) -> Vec<String> {
        let filter = format!("label=ovnode.node={}", self.node);
        let list = ["ps", "--all", "--quiet", "--filter", &filter];
        let said = Command::new("docker").args(list).output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        said.lines().map(str::to_owned).collect()
    }

    /// A file or folder of its own.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Its config file.
    pub(crate) fn config(&self) -> PathBuf {
        self.path("node.toml")
    }

    fn config_text(&self, wants: &Wants) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let init = root.join("target/init/ovnode-init");
        assert!(init.exists(), "no {}: run `make init`", init.display());
        let Wants { nats, engine, state, slots, more } = wants;
        let state = state.clone().unwrap_or_else(|| self.path("state"));
        format!(
            r#"
[node]
id = "{node}"
region = "test"
state_dir = "{state}"
[nats]
servers = ["{nats}"]
[engine]
socket = "{engine}"
init = "{init}"
[control]
socket = "{control}"
[workers]
dir = "{workers}"
[class.function]
slots = {slots}
[[artifact]]
name = "sh"
version = "1"
class = "function"
image = "ovnode/function:1"
command = ["/bin/sh", "-c", "read -r args; eval \"$(printf '%s' \"$args\" | sed -n 's/.*\"sh64\":\"\\([^\"]*\\)\".*/\\1/p' | base64 -d)\""]
{more}
"#,
            node = self.node,
            state = state.display(),
            engine = engine.display(),
            init = init.display(),
            control = self.path("control.sock").display(),
            workers = root.join("workers").display(),
        )
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- log of {} ---\n{}", self.node, self.log());
        }
        if let Some(mut child) = self.child.take() {
            // TERM would be kinder; a test that failed must end all the same.
            drop(child.kill());
            drop(child.wait());
        }
        for id in self.containers() {
            let gone = ["rm", "--force", "--volumes", &id];
            drop(Command::new("docker").args(gone).output());
        }
    }
}
