use crate::support::LONG;
use crate::support::daemon::{Daemon, Wants};
use crate::support::nats::Nats;
use crate::support::recorder::Recorder;
use crate::support::wait::eventually;
use crate::support::wire::{Dispatch, sh};
use serde_json::Value;
use std::process::{Child, Command};
use std::time::Duration;

fn class(node: &Daemon) -> Option<Value> {
    Some(node.status()?["classes"][0].clone())
}

#[tokio::test]
async fn without_nats_it_waits_says_so_and_goes_on_when_it_comes() {
    let mut nats = Nats::down();
    let node = Daemon::start(&Wants::over(&nats.url()));
    let link = eventually("status says what is missing", LONG, || {
        let link = node.status()?["link"].clone();
        (link["text"].as_str()?.contains("failed")).then_some(link)
    })
    .await;
    assert_eq!(link["state"], "connecting", "{link}");
    nats.up();
    node.offers_function().await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    assert_eq!(dispatch.run("echo here").await.stdout(), "here\n");
}

#[tokio::test]
async fn a_job_outlives_the_server_and_its_exit_is_told_after() {
    let mut nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let mut sent = dispatch.send(sh("echo a; sleep 4; echo b")).await;
    sent.until("job_stdout").await;
    nats.kill();
    tokio::time::sleep(Duration::from_secs(5)).await;
    nats.up();
    let exit = sent.until("job_exit").await;
    assert_eq!(exit["reason"], "exited", "{exit}");
    assert_eq!(exit["code"], 0, "{exit}");
}

/// Lets an engine's socket be there, or not, for one daemon.
struct Door {
    path: std::path::PathBuf,
    relay: Option<Child>,
    _dir: tempfile::TempDir,
}

impl Door {
    fn closed() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("engine.sock");
        Self { path, relay: None, _dir: dir }
    }

    fn open(&mut self) {
        let relay = Command::new("python3")
            .arg("-c")
            .arg(include_str!("support/relay.py"))
            .args([self.path.as_os_str(), "/var/run/docker.sock".as_ref()])
            .spawn()
            .unwrap();
        self.relay = Some(relay);
    }

    fn close(&mut self) {
        if let Some(mut relay) = self.relay.take() {
            relay.kill().unwrap();
            relay.wait().unwrap();
            drop(std::fs::remove_file(&self.path));
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.close();
    }
}

#[tokio::test]
async fn without_an_engine_it_waits_says_so_and_goes_on_when_it_comes() {
    let nats = Nats::start();
    let mut door = Door::closed();
    let wants = Wants { engine: door.path.clone(), ..Wants::over(&nats.url()) };
    let node = Daemon::start(&wants);
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let mut recorder = Recorder::on(&dispatch.nats).await;

    eventually("status names the engine", LONG, || {
        let status = node.status()?;
        let reasons = status["health"]["reasons"].to_string();
        let linked = status["link"]["state"] == "connected";
        (linked && reasons.contains("engine_away")).then_some(())
    })
    .await;
    assert_eq!(class(&node).unwrap()["offered"], false);
    let refused = dispatch.send(sh("true")).await.answer;
    assert_eq!(refused["fault_code"], "not_ready", "{refused}");

    door.open();
    node.offers_function().await;
    assert_eq!(dispatch.run("echo here").await.stdout(), "here\n");

    // Away means unknown: what runs is held, and nothing else is taken.
    let mut held = dispatch.send(sh("echo up; sleep 8; exit 7")).await;
    held.until("job_stdout").await;
    door.close();
    eventually("function is withdrawn", LONG, || {
        (class(&node)?["offered"] == false).then_some(())
    })
    .await;
    let refused = dispatch.send(sh("true")).await.answer;
    assert_eq!(refused["fault_code"], "not_ready", "{refused}");
    door.open();
    let exit = held.until("job_exit").await;
    assert_eq!((&exit["reason"], &exit["code"]), (&"exited".into(), &7.into()));
    node.offers_function().await;
    recorder.check().await;
}
