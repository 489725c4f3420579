use super::remove::Remover;
use crate::engine::record::Record;
use crate::engine::{ContainerId, EngineError, SandboxId};
use std::sync::Arc;
use tokio_util::task::TaskTracker;

/// Does work on files where waiting for a disk delays nobody else. Given up,
/// it is done to its end, and what it made is dropped.
pub(super) async fn on_disk<T: Send + 'static>(
    tasks: &TaskTracker,
    work: impl FnOnce() -> Result<T, EngineError> + Send + 'static,
) -> Result<T, EngineError> {
    let died = |_| EngineError::NotAsAsked("work on it was cut off".to_owned());
    tasks.spawn_blocking(work).await.map_err(died)?
}

/// A record that goes from the disk with its last user.
#[derive(Debug)]
pub(super) struct KeptRecord {
    record: Option<Record>,
    sandbox: SandboxId,
    remover: Remover,
}

impl KeptRecord {
    /// Has it made, which waits for the disk.
    pub(super) fn make(
        sandbox: SandboxId,
        remover: Remover,
        make: impl FnOnce(&SandboxId) -> Result<Record, EngineError>,
    ) -> Result<Arc<Self>, EngineError> {
        // First, as a sweep would take a half-made one for nobody's.
        remover.keep(&sandbox);
        let mut kept = Self { record: None, sandbox, remover };
        kept.record = Some(make(&kept.sandbox)?);
        Ok(Arc::new(kept))
    }

    pub(super) fn get(&self) -> Result<&Record, EngineError> {
        // Taken only when it is dropped.
        let gone = || EngineError::NotAsAsked("its record is gone".to_owned());
        self.record.as_ref().ok_or_else(gone)
    }
}

impl Drop for KeptRecord {
    fn drop(&mut self) {
        let removed = self.record.take().map_or(Ok(()), Record::remove);
        if let Err(err) = removed {
            tracing::warn!(error = %err, "a record is left to the next sweep");
        }
        self.remover.forget(&self.sandbox);
    }
}

/// A container, and whoever drops this has it removed.
#[derive(Debug)]
pub(super) struct Container {
    /// Or its name, as long as the engine has not told the id.
    id: Option<ContainerId>,
    remover: Remover,
}

impl Container {
    /// That of a sandbox, which is about to be made: whoever gives that up
    /// does not learn whether it was.
    pub(super) fn of(sandbox: &SandboxId, remover: Remover) -> Self {
        Self { id: Some(ContainerId(sandbox.container())), remover }
    }

    /// It was made.
    pub(super) fn made(&mut self, id: &ContainerId) {
        self.id = Some(id.clone());
    }

    /// It was not, whatever else has that name.
    pub(super) fn not_made(mut self) {
        self.id = None;
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.remover.remove(id);
        }
    }
}
