use crate::support::daemon::{Daemon, Wants};
use crate::support::nats::Nats;
use crate::support::wait::eventually;
use crate::support::wire::{Dispatch, job_frame, new_id, now_ms};
use crate::{Fallible, IMAGE};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A daemon with a NATS server of its own, and somebody who sends it jobs.
pub(crate) struct Node {
    dispatch: Dispatch,
    daemon: Daemon,
    /// The daemon ends before its server.
    _nats: Nats,
}

/// Each since the request was sent.
pub(crate) struct NodeTimes {
    pub(crate) ack: Duration,
    /// By the clock of `started_ms`, whole milliseconds.
    pub(crate) exec: Duration,
    pub(crate) started: Duration,
    pub(crate) first_byte: Duration,
}

impl Node {
    pub(crate) async fn start() -> Fallible<Self> {
        let nats = Nats::start();
        let more = format!(
            r#"
[[artifact]]
name = "echo"
version = "1"
class = "function"
image = "{IMAGE}"
command = ["/bin/echo", "hello"]
"#
        );
        let wants = Wants { more, ..Wants::over(&nats.url()) };
        let daemon = Daemon::ready(&wants).await;
        let dispatch =
            Dispatch::connect(&nats.url(), &daemon.node, "bench").await;
        let node = Self { dispatch, daemon, _nats: nats };
        node.no_container().await;
        Ok(node)
    }

    /// One job; afterwards nothing of it is left.
    pub(crate) async fn cold_job(&self) -> Fallible<NodeTimes> {
        let job = echo();
        let mut sent = self.dispatch.awaits(&job).await;
        let frame = job_frame(&job);
        let (begun, begun_ms) = (Instant::now(), now_ms());
        sent.answer = self.dispatch.raw(frame).await;
        let ack = begun.elapsed();
        if sent.answer["type"] != "ack" {
            return Err(format!("not taken: {}", sent.answer).into());
        }
        let said = sent.until("job_started").await;
        let started = begun.elapsed();
        sent.until("job_stdout").await;
        let first_byte = begun.elapsed();
        let exit = sent.until("job_exit").await;
        if exit["code"] != 0 {
            return Err(format!("it ended badly: {exit}").into());
        }
        self.dispatch.about("job_exit_ack", &sent.id).await;
        self.no_container().await;
        let exec_ms = said["started_ms"].as_u64().unwrap_or_default();
        let exec = Duration::from_millis(exec_ms.saturating_sub(begun_ms));
        Ok(NodeTimes { ack, exec, started, first_byte })
    }

    pub(crate) fn stop(mut self) {
        self.daemon.stop();
    }

    /// The engine takes a container down for longer than its job runs.
    async fn no_container(&self) {
        eventually("its container is gone", Duration::from_secs(60), || {
            self.daemon.containers().is_empty().then_some(())
        })
        .await;
    }
}

fn echo() -> Value {
    json!({
        "id": new_id(),
        "class": "function",
        "artifact": { "name": "echo", "version": "1" },
        "args": {},
        "ttl_ms": 60_000,
        "limits": {
            "wall_ms": 30_000, "cpu_ms": 30_000, "mem_bytes": 67_108_864,
        },
    })
}
