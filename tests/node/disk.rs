use crate::support::LONG;
use crate::support::daemon::{Daemon, Wants};
use crate::support::nats::Nats;
use crate::support::wait::eventually;
use crate::support::wire::{Dispatch, sh};
use std::process::Command;
use tempfile::TempDir;

/// A filesystem of its own, small enough to be filled.
struct Small {
    dir: TempDir,
}

impl Small {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mount = ["-t", "tmpfs", "-o", "size=256m,mode=0700", "tmpfs"];
        let mounted =
            Command::new("mount").args(mount).arg(dir.path()).status();
        assert!(mounted.unwrap().success(), "needs root");
        Self { dir }
    }

    fn fill(&self) {
        let fill = self.dir.path().join("fill");
        // It stops where the filesystem is full.
        drop(std::fs::write(fill, vec![1; 300 << 20]));
    }

    fn empty(&self) {
        std::fs::remove_file(self.dir.path().join("fill")).unwrap();
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // Lazily: a daemon that failed may still hold it.
        drop(Command::new("umount").arg("-l").arg(self.dir.path()).status());
    }
}

#[tokio::test]
async fn a_full_disk_takes_no_job_says_so_and_is_over_when_there_is_room() {
    let nats = Nats::start();
    let small = Small::new();
    let wants = Wants {
        state: Some(small.dir.path().to_owned()),
        more: "[reserve]\ndisk = \"16MiB\"\n".to_owned(),
        ..Wants::over(&nats.url())
    };
    let mut node = Daemon::ready(&wants).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    assert_eq!(dispatch.run("echo before").await.stdout(), "before\n");

    small.fill();
    eventually("status says that the disk is full", LONG, || {
        let reasons = node.status()?["health"]["reasons"].to_string();
        reasons.contains("disk_low").then_some(())
    })
    .await;
    let refused = dispatch.send(sh("echo no")).await.answer;
    assert_eq!(refused["fault_code"], "not_ready", "{refused}");
    assert!(node.lives());

    small.empty();
    node.offers_function().await;
    assert_eq!(dispatch.run("echo after").await.stdout(), "after\n");
}
