use super::kept::on_disk;
use super::remove::Remover;
use crate::contract::NodeId;
use crate::engine::record::Record;
use crate::engine::{Engine, EngineError, OwnContainer, SandboxId};
use crate::init::names;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Between two tries to clear what an earlier daemon left.
const CLEAR: Duration = Duration::from_secs(2);
/// How often what belongs to no job is looked for.
const SWEEP: Duration = Duration::from_secs(600);
/// What is younger is left alone: an engine may still be making it for a call
/// of ours that was given up.
const GRACE: Duration = Duration::from_secs(60);

/// What tells our containers from those of others.
pub(crate) struct Ours<E> {
    pub(crate) engine: Arc<E>,
    pub(crate) node: NodeId,
    pub(crate) records: PathBuf,
}

impl<E: Engine> Ours<E> {
    /// Whether a container with this node's label was made over our records:
    /// another daemon under our id, over a copy of our state, has its own.
    pub(super) async fn are_its_records(&self, found: &OwnContainer) -> bool {
        let record = self.records.join(&found.sandbox.0);
        let mount =
            format!("mount={} bind {} ", names::MOUNT, record.display());
        let seen = self.engine.inspect(&found.id).await;
        matches!(seen, Ok(Some(seen))
            if seen.applied.iter().any(|line| line.starts_with(&mount)))
    }
}

/// Hands over what belongs to no job: an earlier daemon's, or what came into
/// being after we gave it up. Containers of others carry another label or
/// none, and are never seen here.
pub(crate) struct SweepTask<E> {
    pub(crate) ours: Arc<Ours<E>>,
    pub(crate) remover: Remover,
    pub(crate) tasks: TaskTracker,
    /// Opened once nothing of an earlier daemon runs any more: until then
    /// its processes hold what a slot would promise again.
    pub(crate) cleared: CancellationToken,
    pub(crate) stop: CancellationToken,
}

impl<E: Engine> SweepTask<E> {
    pub(crate) async fn run(self) {
        if self.stop.run_until_cancelled(self.clear()).await.is_none() {
            return;
        }
        self.cleared.cancel();
        // What an engine was still making for an earlier daemon is there by
        // then, and what is found is not just being made for this one.
        let mut pause = GRACE;
        loop {
            let swept = async {
                tokio::time::sleep(pause).await;
                if let Err(err) = self.sweep().await {
                    tracing::warn!(error = %err, "not all was swept");
                }
            };
            if self.stop.run_until_cancelled(swept).await.is_none() {
                return;
            }
            pause = SWEEP;
        }
    }

    /// Ends what an earlier daemon left, however often that takes. Nothing of
    /// this one waits for an engine yet, so there is no grace to give.
    async fn clear(&self) {
        while let Err(err) = self.end_all().await {
            tracing::warn!(
                error = %err,
                "what an earlier daemon left is not cleared yet",
            );
            tokio::time::sleep(CLEAR).await;
        }
    }

    async fn end_all(&self) -> Result<(), EngineError> {
        for found in self.ours.engine.own(&self.ours.node).await? {
            if !self.remover.is_known(&found.sandbox)
                && self.ours.are_its_records(&found).await
            {
                tracing::warn!(
                    container.id = %found.id.0, running = found.running,
                    "a container of an earlier daemon is removed",
                );
                self.ours.engine.remove(&found.id).await?;
            }
        }
        Ok(())
    }

    async fn sweep(&self) -> Result<(), EngineError> {
        let mut left = BTreeSet::new();
        for found in self.ours.engine.own(&self.ours.node).await? {
            left.insert(found.sandbox.clone());
            if !self.remover.is_known(&found.sandbox)
                && self.ours.are_its_records(&found).await
            {
                tracing::warn!(
                    container.id = %found.id.0, running = found.running,
                    "a container of no job is removed",
                );
                self.remover.remove(found.id);
            }
        }
        let (records, remover) =
            (self.ours.records.clone(), self.remover.clone());
        let sweep = move || sweep_records(&records, &left, &remover);
        on_disk(&self.tasks, sweep).await
    }
}

/// Records go after their containers.
fn sweep_records(
    records: &Path,
    left: &BTreeSet<SandboxId>,
    remover: &Remover,
) -> Result<(), EngineError> {
    for sandbox in Record::list(records)? {
        if left.contains(&sandbox) || remover.is_known(&sandbox) {
            continue;
        }
        let opened = Record::open(records, &sandbox);
        let removed =
            opened.and_then(|found| found.map_or(Ok(()), Record::remove));
        if let Err(err) = removed {
            tracing::warn!(error = %err, "a record is not removed yet");
        }
    }
    Ok(())
}
