use crate::contract::JobId;
use crate::control::{BackendError, Payload};
use crate::job::{JobsHandle, KeptOutput, LogsError};
use futures::{Stream, stream};
use std::future::Future;
use std::time::Duration;
use tokio_util::task::TaskTracker;

/// How often a followed output is looked at again.
const LOOK: Duration = Duration::from_millis(250);

/// What is read of it at once: 32 followers hold 8 MiB together.
const PIECE_BYTES: usize = 256 << 10;

/// A job's output, as a follower needs it.
pub(super) trait Log: Send + Sync {
    /// At most `most` bytes from an absolute offset on.
    fn read(
        &self,
        offset: u64,
        most: usize,
    ) -> impl Future<Output = Result<KeptOutput, BackendError>> + Send;

    /// Whether more of it may come.
    fn grows(&self) -> bool;
}

/// The output of one job of this node.
pub(super) struct JobLog {
    jobs: JobsHandle,
    id: JobId,
    tasks: TaskTracker,
}

impl JobLog {
    pub(super) fn new(
        jobs: &JobsHandle,
        id: &JobId,
        tasks: &TaskTracker,
    ) -> Self {
        let (jobs, id, tasks) = (jobs.clone(), id.clone(), tasks.clone());
        Self { jobs, id, tasks }
    }

    /// The last bytes, `most` of them at most.
    pub(super) async fn last(
        &self,
        most: usize,
    ) -> Result<KeptOutput, BackendError> {
        self.ask(move |jobs, id| jobs.logs(id, most)).await
    }

    /// Files are read where no other task waits for the thread.
    async fn ask(
        &self,
        read: impl FnOnce(&JobsHandle, &JobId) -> Result<KeptOutput, LogsError>
        + Send
        + 'static,
    ) -> Result<KeptOutput, BackendError> {
        let (jobs, id) = (self.jobs.clone(), self.id.clone());
        let read = self.tasks.spawn_blocking(move || read(&jobs, &id)).await;
        let fault = |_| BackendError::Unavailable("nothing was read".into());
        read.map_err(fault)?.map_err(|err| {
            let text = err.to_string();
            match err {
                LogsError::NotKept(_) => BackendError::NotFound(text),
                LogsError::Unreadable { .. } => BackendError::Unavailable(text),
            }
        })
    }
}

impl Log for JobLog {
    async fn read(
        &self,
        offset: u64,
        most: usize,
    ) -> Result<KeptOutput, BackendError> {
        self.ask(move |jobs, id| jobs.logs_from(id, offset, most)).await
    }

    fn grows(&self) -> bool {
        self.jobs.view().borrow().jobs.iter().any(|job| job.id == self.id)
    }
}

/// All that is written from an offset on, until the job is gone and nothing
/// follows.
pub(super) fn follow_log<L: Log>(
    log: L,
    offset: u64,
) -> impl Stream<Item = Result<Payload, BackendError>> + Send {
    let follower = Follower { log, offset, caught_up: false };
    stream::unfold(Some(follower), async |at| {
        let mut follower = at?;
        match follower.next().await {
            Ok(new) => new.map(|new| (Ok(new), Some(follower))),
            Err(error) => Some((Err(error), None)),
        }
    })
}

struct Follower<L> {
    log: L,
    offset: u64,
    /// All there was has been read: the next look can wait, so that a job
    /// that writes byte by byte is not followed byte by byte.
    caught_up: bool,
}

impl<L: Log> Follower<L> {
    /// What was written since; `None` once nothing more can come.
    async fn next(&mut self) -> Result<Option<Payload>, BackendError> {
        loop {
            if self.caught_up {
                tokio::time::sleep(LOOK).await;
            }
            // Asked before the read, so that the last bytes are read too.
            let grows = self.log.grows();
            let kept = self.log.read(self.offset, PIECE_BYTES).await?;
            self.caught_up = grows && kept.bytes.len() < PIECE_BYTES;
            if !kept.bytes.is_empty() {
                let from = self.offset;
                self.offset = kept.end_of_bytes();
                return Ok(Some(told(from, kept)));
            }
            if !grows {
                return Ok(None);
            }
        }
    }
}

/// The bytes of a piece, behind a line for those that were lost.
fn told(offset: u64, kept: KeptOutput) -> Payload {
    let lost = kept.start.saturating_sub(offset);
    if lost == 0 {
        return kept.bytes.into();
    }
    let mut all = format!("\n[{lost} bytes were overwritten]\n").into_bytes();
    all.extend(kept.bytes);
    all.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::StreamExt as _;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// An output that a script writes: one step at each look.
    struct Scripted {
        steps: Mutex<Vec<KeptOutput>>,
        grows: AtomicBool,
    }

    impl Log for Scripted {
        async fn read(
            &self,
            offset: u64,
            _most: usize,
        ) -> Result<KeptOutput, BackendError> {
            let next = self.steps.lock().unwrap().pop();
            let gone = || KeptOutput { start: offset, ..KeptOutput::default() };
            Ok(next.unwrap_or_else(gone))
        }

        fn grows(&self) -> bool {
            let left = self.steps.lock().unwrap().len();
            self.grows.fetch_and(left > 1, Ordering::Relaxed)
        }
    }

    fn piece(start: u64, bytes: &[u8]) -> KeptOutput {
        let (bytes, end) = (bytes.to_vec(), 99);
        KeptOutput { start, bytes, end }
    }

    async fn followed(mut steps: Vec<KeptOutput>, from: u64) -> Vec<Payload> {
        steps.reverse();
        let (steps, grows) = (Mutex::new(steps), AtomicBool::new(true));
        let said = follow_log(Scripted { steps, grows }, from);
        said.map(Result::unwrap).collect().await
    }

    #[tokio::test(start_paused = true)]
    async fn output_that_repeats_itself_is_followed_byte_for_byte() {
        let steps = vec![
            piece(4, b"aaaa"),
            piece(8, b""),
            piece(8, b"aa"),
            piece(10, b"a"),
        ];
        assert_eq!(followed(steps, 4).await, ["aaaa", "aa", "a"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_follower_that_was_overtaken_hears_how_much_it_missed() {
        let told = followed(vec![piece(9, b"new"), piece(12, b"er")], 4).await;
        assert_eq!(told, ["\n[5 bytes were overwritten]\nnew", "er"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_small_piece_is_told_at_once_and_followed_by_a_pause() {
        let steps = Mutex::new(vec![piece(1, b"b"), piece(0, b"a")]);
        let log = Scripted { steps, grows: AtomicBool::new(true) };
        let start = tokio::time::Instant::now();
        let mut said = Box::pin(follow_log(log, 0));
        assert_eq!(said.next().await.unwrap().unwrap(), "a");
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert_eq!(said.next().await.unwrap().unwrap(), "b");
        assert_eq!(start.elapsed(), LOOK);
        assert!(said.next().await.is_none());
    }
}
