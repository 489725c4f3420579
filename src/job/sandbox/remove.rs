use crate::contract::NodeId;
use crate::engine::record::Record;
use crate::engine::{ContainerId, Engine, OwnContainer, SandboxId};
use crate::init::names;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Containers that wait to be removed: one that finds the queue full is found
/// by the next sweep.
const QUEUE: usize = 1024;
/// Pause after a removal that failed, doubled each time.
const AGAIN: Duration = Duration::from_secs(1);
/// The longest such pause.
const AGAIN_MOST: Duration = Duration::from_secs(60);
/// How often what belongs to no job is looked for.
const SWEEP: Duration = Duration::from_secs(600);
/// What is younger is left alone: an engine may still be making it for a call
/// of ours that was given up.
const GRACE: Duration = Duration::from_secs(60);
/// What the end of the daemon waits for removals, at most: less than it
/// waits for its tasks.
const LAST: Duration = Duration::from_secs(3);
/// How long nothing is handed over before that is the end.
const IDLE: Duration = Duration::from_millis(300);

/// Removes what is left of sandboxes, beside whoever used them.
#[derive(Clone, Debug)]
pub(crate) struct Remover {
    queue: mpsc::Sender<ContainerId>,
    known: Arc<Mutex<BTreeSet<SandboxId>>>,
}

impl Remover {
    pub(crate) fn new() -> (Self, Removals) {
        let (queue, taken) = mpsc::channel(QUEUE);
        let known = Arc::default();
        (Self { queue, known }, Removals(taken))
    }

    /// The container goes; how often that takes is nobody else's matter.
    pub(crate) fn remove(&self, container: ContainerId) {
        if self.queue.try_send(container).is_err() {
            tracing::warn!("a container is left to the next sweep");
        }
    }

    /// This sandbox is somebody's: a sweep leaves it alone until then.
    pub(crate) fn keep(&self, sandbox: &SandboxId) {
        self.known().insert(sandbox.clone());
    }

    /// Nobody has this sandbox any more.
    pub(crate) fn forget(&self, sandbox: &SandboxId) {
        self.known().remove(sandbox);
    }

    fn is_known(&self, sandbox: &SandboxId) -> bool {
        self.known().contains(sandbox)
    }

    fn known(&self) -> MutexGuard<'_, BTreeSet<SandboxId>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The other end, before its task is there.
pub(crate) struct Removals(mpsc::Receiver<ContainerId>);

/// The task behind a [`Remover`].
pub(crate) struct RemoveTask<E> {
    pub(crate) removals: Removals,
    pub(crate) remover: Remover,
    pub(crate) engine: Arc<E>,
    pub(crate) node: NodeId,
    pub(crate) records: PathBuf,
    pub(crate) stop: CancellationToken,
}

/// When to try again, after which pause.
type Failed = BTreeMap<Instant, (ContainerId, Duration)>;

impl<E: Engine> RemoveTask<E> {
    pub(crate) async fn run(mut self) {
        let mut failed = Failed::new();
        // The first sweep waits too: what is found then is not just being
        // made, and an engine that starts with us has settled.
        let mut sweep_at = Instant::now() + GRACE;
        loop {
            let retry = failed.keys().next().copied().unwrap_or(sweep_at);
            let asked = tokio::select! {
                () = self.stop.cancelled() => return self.finish().await,
                asked = self.removals.0.recv() => asked,
                () = tokio::time::sleep_until(retry.min(sweep_at)) => None,
            };
            let now = Instant::now();
            if let Some(container) = asked {
                self.remove(container, AGAIN, &mut failed).await;
            }
            while let Some(due) = failed.first_entry()
                && *due.key() <= now
            {
                let (container, pause) = due.remove();
                self.remove(container, pause, &mut failed).await;
            }
            if now >= sweep_at {
                self.sweep().await;
                sweep_at = Instant::now() + SWEEP;
            }
        }
    }

    /// The daemon ends: what was made here goes, in whoever's hands it is.
    /// What an engine does not do in that time is for the next start's sweep.
    async fn finish(mut self) {
        if tokio::time::timeout(LAST, self.remove_all()).await.is_err() {
            tracing::warn!("containers are left to the next start");
        }
    }

    async fn remove_all(&mut self) {
        let mut failed = Failed::new();
        // Whoever ends with us hands over in its last moments.
        while let Ok(Some(container)) =
            tokio::time::timeout(IDLE, self.removals.0.recv()).await
        {
            self.remove(container, AGAIN, &mut failed).await;
        }
        // Nobody hands over what was being made when he was cut off.
        let own = self.engine.own(&self.node).await.unwrap_or_default();
        for found in own {
            if self.is_of_these_records(&found).await {
                self.remove(found.id, AGAIN, &mut failed).await;
            }
        }
    }

    /// Whether a container with this node's label was made over our records:
    /// another daemon under our id, over a copy of our state, has its own.
    async fn is_of_these_records(&self, found: &OwnContainer) -> bool {
        let record = self.records.join(&found.sandbox.0);
        let mount =
            format!("mount={} bind {} ", names::MOUNT, record.display());
        let seen = self.engine.inspect(&found.id).await;
        matches!(seen, Ok(Some(seen))
            if seen.applied.iter().any(|line| line.starts_with(&mount)))
    }

    async fn remove(
        &self,
        container: ContainerId,
        pause: Duration,
        failed: &mut Failed,
    ) {
        let Err(err) = self.engine.remove(&container).await else { return };
        tracing::warn!(
            container.id = %container.0, error = %err,
            "a container is not removed yet",
        );
        // Far less than a nanosecond's chance to meet another one's moment.
        let mut at = Instant::now() + pause;
        while failed.contains_key(&at) {
            at += Duration::from_nanos(1);
        }
        let next = pause.saturating_mul(2).min(AGAIN_MOST);
        failed.insert(at, (container, next));
    }

    /// Finds what carries this node's label and belongs to no job: an earlier
    /// daemon's, or one that came into being after we gave it up. Containers
    /// of others carry another label or none, and are never seen here.
    async fn sweep(&self) {
        let own = match self.engine.own(&self.node).await {
            Ok(own) => own,
            Err(err) => {
                tracing::warn!(error = %err, "no sweep: the engine is away");
                return;
            }
        };
        let mut left = BTreeSet::new();
        for found in own {
            left.insert(found.sandbox.clone());
            if !self.remover.is_known(&found.sandbox)
                && self.is_of_these_records(&found).await
            {
                tracing::warn!(
                    container.id = %found.id.0, running = found.running,
                    "a container of no job is removed",
                );
                self.remover.remove(found.id);
            }
        }
        self.sweep_records(&left);
    }

    /// Records go after their containers.
    fn sweep_records(&self, left: &BTreeSet<SandboxId>) {
        let found = Record::list(&self.records).unwrap_or_else(|err| {
            tracing::warn!(error = %err, "records are not swept");
            Vec::new()
        });
        for sandbox in found {
            if left.contains(&sandbox) || self.remover.is_known(&sandbox) {
                continue;
            }
            let opened = Record::open(&self.records, &sandbox);
            let removed =
                opened.and_then(|found| found.map_or(Ok(()), Record::remove));
            if let Err(err) = removed {
                tracing::warn!(error = %err, "a record is not removed yet");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fake::FakeEngine;
    use crate::job::sandbox::launch::tests::spec_at;
    use tokio_util::task::TaskTracker;

    fn node() -> NodeId {
        "node_1".to_owned().try_into().unwrap()
    }

    /// A task over an engine and these records, and what ends it.
    fn started(
        engine: &FakeEngine,
        records: &str,
    ) -> (Remover, TaskTracker, CancellationToken) {
        let (remover, removals) = Remover::new();
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let task = RemoveTask {
            removals,
            remover: remover.clone(),
            engine: Arc::new(engine.clone()),
            node: node(),
            records: records.into(),
            stop: stop.clone(),
        };
        tasks.spawn(task.run());
        tasks.close();
        (remover, tasks, stop)
    }

    async fn left(engine: &FakeEngine) -> Vec<String> {
        let own = engine.own(&node()).await.unwrap();
        own.into_iter().map(|found| found.sandbox.0).collect()
    }

    async fn engine_with(made: &[(&str, &str)]) -> FakeEngine {
        let engine = FakeEngine::with_image("image");
        let image = engine.image("image").await.unwrap().unwrap();
        for (records, sandbox) in made {
            let mut spec = spec_at(records, sandbox);
            spec.image = image.id.clone();
            engine.create(&spec).await.unwrap();
        }
        engine
    }

    #[tokio::test(start_paused = true)]
    async fn a_sweep_takes_what_is_nobodys_and_was_made_over_these_records() {
        let made = [("/mine", "sb_1"), ("/mine", "sb_2"), ("/other", "sb_3")];
        let engine = engine_with(&made).await;
        let (remover, _tasks, _stop) = started(&engine, "/mine");
        remover.keep(&SandboxId("sb_1".to_owned()));
        tokio::time::sleep(GRACE - Duration::from_secs(1)).await;
        assert_eq!(left(&engine).await.len(), 3, "it is too early to know");
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert_eq!(left(&engine).await, ["sb_1", "sb_3"]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_daemon_leaves_no_container_of_its_own() {
        let engine =
            engine_with(&[("/mine", "sb_1"), ("/other", "sb_2")]).await;
        let (remover, tasks, stop) = started(&engine, "/mine");
        remover.keep(&SandboxId("sb_1".to_owned()));
        stop.cancel();
        tasks.wait().await;
        assert_eq!(left(&engine).await, ["sb_2"]);
    }
}
