use std::future::Future;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Where the tasks are started without which the daemon is of no use. One
/// that panics took its queues with it and cannot be made anew, so the whole
/// daemon ends, and whoever started it starts another.
#[derive(Clone, Debug, Default)]
pub struct Vital {
    tasks: TaskTracker,
    stop: CancellationToken,
    died: CancellationToken,
}

impl Vital {
    /// Tasks on this tracker, until `stop`.
    pub fn new(tasks: TaskTracker, stop: CancellationToken) -> Self {
        Self { tasks, stop, died: CancellationToken::new() }
    }

    /// Starts one.
    pub fn spawn(
        &self,
        name: &'static str,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        let running = self.tasks.spawn(task);
        let died = self.died.clone();
        self.tasks.spawn(async move {
            if let Err(error) = running.await {
                tracing::error!(%error, task = name, "the daemon must end");
                died.cancel();
            }
        });
    }

    /// Where other tasks are spawned.
    pub fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    /// Ends every task here at once.
    pub fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// Waits until one of them died. Cancel-safe.
    pub async fn died(&self) {
        self.died.cancelled().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn only_a_task_that_panics_ends_the_daemon() {
        let vital = Vital::default();
        vital.spawn("ends", async {});
        tokio::task::yield_now().await;
        assert_eq!(vital.died().now_or_never(), None);
        vital.spawn("panics", async { panic!("a test wants that") });
        vital.died().await;
        vital.tasks().close();
        vital.tasks().wait().await;
    }
}
