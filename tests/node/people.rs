use crate::support::LONG;
use crate::support::daemon::{Daemon, Wants};
use crate::support::nats::Nats;
use crate::support::wait::eventually;
use crate::support::wire::{Dispatch, sh};
use std::process::{Command, Output};

fn text(said: &Output) -> String {
    let (out, err) = (&said.stdout, &said.stderr);
    String::from_utf8_lossy(&[out.as_slice(), err].concat()).into_owned()
}

#[tokio::test]
async fn the_commands_tell_an_owner_what_the_node_does() {
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let mut sent = dispatch.send(sh("echo hello; sleep 600")).await;
    sent.until("job_stdout").await;

    let status = node.ovnode(&["status"]);
    assert!(status.status.success(), "{}", text(&status));
    let status = text(&status);
    for word in ["up", "function", "connected", sent.id.as_str()] {
        assert!(status.contains(word), "{word}\n{status}");
    }
    assert!(!status.contains('\u{1b}'), "plain in a pipe");
    let jobs = text(&node.ovnode(&["jobs"]));
    assert!(jobs.contains(&sent.id), "{jobs}");
    let job = text(&node.ovnode(&["job", &sent.id]));
    assert!(job.contains("running"), "{job}");
    let logs = text(&node.ovnode(&["logs", &sent.id]));
    assert!(logs.contains("hello"), "{logs}");
    eventually("the offer is shown as it was published", LONG, || {
        let offers = text(&node.ovnode(&["offers", "--json"]));
        offers.contains("worker:function").then_some(())
    })
    .await;

    let cancel = node.ovnode(&["cancel", &sent.id]);
    assert!(cancel.status.success(), "{}", text(&cancel));
    let exit = sent.until("job_exit").await;
    assert_eq!(exit["reason"], "cancelled", "{exit}");
    eventually("the job is remembered with its end", LONG, || {
        let told = text(&node.ovnode(&["job", &sent.id]));
        told.contains("cancelled").then_some(())
    })
    .await;
    let jobs = text(&node.ovnode(&["jobs"]));
    assert!(jobs.contains(&sent.id), "{jobs}");
    let unknown = node.ovnode(&["job", "job_01JAB2C3D4E5F6G7H8J9K0MNPQ"]);
    assert_eq!(unknown.status.code(), Some(1), "{}", text(&unknown));
}

#[tokio::test]
async fn a_job_can_be_submitted_by_hand() {
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let mut job = sh("echo by hand; echo '[1]' >&3");
    job.as_object_mut().unwrap().remove("id");
    let file = node.path("job.json");
    std::fs::write(&file, job.to_string()).unwrap();
    let file = file.to_str().unwrap();

    let said = node.ovnode(&["submit", file, "--trust", "user-owned"]);
    assert!(said.status.success(), "{}", text(&said));
    assert_eq!(String::from_utf8_lossy(&said.stdout), "by hand\n");

    // A machine of somebody's own is used only where that was asked for.
    let nobody = node.ovnode(&["submit", file]);
    assert!(!nobody.status.success(), "{}", text(&nobody));
    let named = ["--node", &node.node, "--trust", "user-owned"];
    let named = node.ovnode(&[&["submit", file][..], &named].concat());
    assert!(named.status.success(), "{}", text(&named));

    job["args"] = serde_json::json!({ "sh64": "ZXhpdCAz" }); // exit 3
    std::fs::write(file, job.to_string()).unwrap();
    let failed = node.ovnode(&["submit", file, "--trust", "user-owned"]);
    assert_eq!(failed.status.code(), Some(1), "{}", text(&failed));
}

#[tokio::test]
async fn without_a_daemon_each_command_says_what_to_do() {
    let nats = Nats::start();
    let mut node = Daemon::start(&Wants::over(&nats.url()));
    node.stop();
    for command in ["status", "jobs", "offers"] {
        let said = node.ovnode(&[command]);
        assert_eq!(said.status.code(), Some(69), "{command}");
        let text = text(&said);
        assert!(text.lines().count() == 1, "one line: {text}");
    }
}

#[tokio::test]
async fn a_second_daemon_over_one_state_is_refused() {
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let second = node.ovnode(&["run"]);
    assert!(!second.status.success());
    assert!(text(&second).contains("another"), "{}", text(&second));
}

#[tokio::test]
async fn the_python_example_runs_a_job_from_offer_to_acknowledgement() {
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let said = Command::new(root.join("target/venv/bin/python"))
        .arg(root.join("examples/dispatch.py"))
        .args(["--server", &nats.url(), "--trust", "user-owned"])
        .args(["--artifact", "sh@1", "--class", "function"])
        .args(["--args", "{\"sh64\":\"ZWNobyBmcm9tIHB5dGhvbg==\"}"])
        .output()
        .unwrap();
    let text = text(&said);
    assert!(said.status.success(), "{text}\n{}", node.log());
    assert!(text.contains("from python"), "{text}");
    assert!(text.contains("job_exit"), "{text}");
}
