use crate::support::LONG;
use crate::support::wait::eventually;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Duration;

static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// What a demo could leave behind: its folders, its servers, its containers.
fn left() -> BTreeSet<String> {
    let temp = std::fs::read_dir(std::env::temp_dir()).unwrap();
    let names = temp.map(|it| it.unwrap().file_name());
    let folders = names.map(|name| name.to_string_lossy().into_owned());
    let folders = folders.filter(|name| name.starts_with("ovnode-demo"));
    // Other tests have containers of their own, under names of their own.
    let format = "{{.Label \"ovnode.node\"}} {{.Names}}";
    let list = ["ps", "--all", "--filter", "label=ovnode.node", "--format"];
    let said = Command::new("docker").args(list).arg(format).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let ours = said.lines().filter(|line| line.starts_with("node_01"));
    folders.chain(ours.map(str::to_owned)).collect()
}

fn demo() -> Command {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut demo = Command::new(env!("CARGO_BIN_EXE_ovnode"));
    demo.arg("demo").current_dir(root).stdin(Stdio::null());
    demo
}

#[tokio::test]
async fn the_demo_runs_a_job_and_leaves_nothing_behind() {
    // What one leaves behind the other would see.
    let _alone = ALONE.lock().await;
    let before = left();
    let said = demo().output().unwrap();
    let out = String::from_utf8_lossy(&said.stdout);
    let err = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{out}\n{err}");
    for word in ["worker:function", "answer: ack", "result {\"words\":5}"] {
        assert!(out.contains(word), "{word}\n{out}\n{err}");
    }
    assert_eq!(left(), before);
}

#[tokio::test]
async fn an_interrupted_demo_leaves_nothing_behind_either() {
    // What one leaves behind the other would see.
    let _alone = ALONE.lock().await;
    let before = left();
    let mut child = demo().stdout(Stdio::null()).spawn().unwrap();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let pid = rustix::process::Pid::from_child(&child);
    let interrupt = rustix::process::Signal::INT;
    rustix::process::kill_process(pid, interrupt).unwrap();
    eventually("it ends", LONG, || child.try_wait().unwrap()).await;
    assert_eq!(left(), before);
}
