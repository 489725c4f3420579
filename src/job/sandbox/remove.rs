use super::sweep::Ours;
use crate::engine::{ContainerId, Engine, EngineError, SandboxId};
use futures::stream::{self, FuturesUnordered, StreamExt};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Containers that wait to be removed: one that finds the queue full is found
/// by the next sweep.
const QUEUE: usize = 1024;
/// Removals at once: one that an engine hangs in must not hold up all others,
/// and an engine under load is not helped by dozens.
const AT_ONCE: usize = 4;
/// Pause after a removal that failed, doubled each time.
const AGAIN: Duration = Duration::from_secs(1);
/// The longest such pause.
const AGAIN_MOST: Duration = Duration::from_secs(60);
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

    pub(super) fn is_known(&self, sandbox: &SandboxId) -> bool {
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
    pub(crate) ours: Arc<Ours<E>>,
    pub(crate) stop: CancellationToken,
}

/// A container to be removed, and the pause if that fails.
type Due = (ContainerId, Duration);

/// What a task that removes meets.
enum Input {
    Stop,
    Asked(ContainerId),
    /// What became of a removal.
    Done(Due, Result<(), EngineError>),
    /// It is time to try again what failed.
    Again,
}

impl<E: Engine> RemoveTask<E> {
    pub(crate) async fn run(mut self) {
        let engine = self.ours.engine.clone();
        let remove = async |due: Due| {
            let done = engine.remove(&due.0).await;
            (due, done)
        };
        let mut busy = FuturesUnordered::new();
        let (mut ready, mut failed) = (VecDeque::new(), Failed::default());
        loop {
            ready.extend(failed.due());
            while busy.len() < AT_ONCE
                && let Some(due) = ready.pop_front()
            {
                busy.push(remove(due));
            }
            // Where nothing failed, there is nothing to be found then.
            let again = failed.next().unwrap_or(Instant::now() + AGAIN_MOST);
            let input = tokio::select! {
                biased; // removals without end must not hide the stop
                () = self.stop.cancelled() => Input::Stop,
                Some((due, done)) = busy.next() => Input::Done(due, done),
                // The others wait in the queue, which has an end.
                Some(asked) = self.removals.0.recv(), if ready.is_empty() => {
                    Input::Asked(asked)
                }
                () = tokio::time::sleep_until(again) => Input::Again,
            };
            match input {
                Input::Stop => break,
                Input::Asked(container) => ready.push_back((container, AGAIN)),
                Input::Done(_, Ok(())) | Input::Again => {}
                Input::Done(due, Err(err)) => failed.put(due, &err),
            }
        }
        drop(busy);
        self.finish().await;
    }

    /// The daemon ends: what was made here goes, in whoever's hands it is.
    /// What an engine does not do in that time is for the next start's sweep.
    async fn finish(&mut self) {
        if tokio::time::timeout(LAST, self.remove_all()).await.is_err() {
            tracing::warn!("containers are left to the next start");
        }
    }

    async fn remove_all(&mut self) {
        // Whoever ends with us hands over in its last moments.
        let handed = stream::unfold(&mut self.removals.0, async |queue| {
            let next = tokio::time::timeout(IDLE, queue.recv()).await;
            Some((next.ok()??, queue))
        });
        let ours = &self.ours;
        let remove = async |container| {
            if let Err(err) = ours.engine.remove(&container).await {
                left(&container, &err);
            }
        };
        // Nobody hands over what was being made when he was cut off.
        let own = stream::once(ours.engine.own(&ours.node));
        let own = own.flat_map(|own| stream::iter(own.unwrap_or_default()));
        let own = own.filter_map(async |found| {
            ours.are_its_records(&found).await.then_some(found.id)
        });
        handed.chain(own).for_each_concurrent(AT_ONCE, remove).await;
    }
}

/// Removals that failed, by when they are tried again.
#[derive(Default)]
struct Failed(BTreeMap<Instant, Due>);

impl Failed {
    fn put(&mut self, (container, pause): Due, err: &EngineError) {
        left(&container, err);
        // Far less than a nanosecond's chance to meet another one's moment.
        let mut at = Instant::now() + pause;
        while self.0.contains_key(&at) {
            at += Duration::from_nanos(1);
        }
        let next = pause.saturating_mul(2).min(AGAIN_MOST);
        self.0.insert(at, (container, next));
    }

    fn next(&self) -> Option<Instant> {
        self.0.keys().next().copied()
    }

    fn due(&mut self) -> Vec<Due> {
        let now = Instant::now();
        let due = self.0.extract_if(..=now, |_, _| true);
        due.map(|(_, due)| due).collect()
    }
}

fn left(container: &ContainerId, err: &EngineError) {
    tracing::warn!(
        container.id = %container.0, error = %err,
        "a container is not removed yet",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::NodeId;
    use crate::engine::fake::{Call, FakeEngine, Turn};
    use crate::job::sandbox::SweepTask;
    use crate::job::sandbox::launch::tests::spec_at;
    use tokio_util::task::TaskTracker;

    fn node() -> NodeId {
        "node_1".to_owned().try_into().unwrap()
    }

    /// Both tasks over an engine and these records, and what ends them.
    fn started(
        engine: &FakeEngine,
        records: &str,
    ) -> (Remover, TaskTracker, CancellationToken) {
        let (remover, removals) = Remover::new();
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let ours = Arc::new(Ours {
            engine: Arc::new(engine.clone()),
            node: node(),
            records: records.into(),
        });
        let sweep = SweepTask {
            ours: ours.clone(),
            remover: remover.clone(),
            tasks: tasks.clone(),
            cleared: CancellationToken::new(),
            stop: stop.clone(),
        };
        tasks.spawn(sweep.run());
        let task = RemoveTask { removals, ours, stop: stop.clone() };
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

    fn remove(remover: &Remover, sandbox: &str) {
        let name = SandboxId(sandbox.to_owned()).container();
        remover.remove(ContainerId(name));
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_removal_that_hangs_holds_up_no_other() {
        let made = [("/mine", "sb_1"), ("/mine", "sb_2"), ("/mine", "sb_3")];
        let engine = engine_with(&made).await;
        let (remover, _tasks, _stop) = started(&engine, "/mine");
        for (_, sandbox) in made {
            remover.keep(&SandboxId(sandbox.to_owned()));
        }
        engine.next(Call::Remove, Turn::Late(SECOND * 50));
        for (_, sandbox) in made {
            remove(&remover, sandbox);
        }
        tokio::time::sleep(SECOND).await;
        assert_eq!(left(&engine).await, ["sb_1"]);
        tokio::time::sleep(SECOND * 50).await;
        assert!(left(&engine).await.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_removal_that_fails_is_tried_again() {
        let engine = engine_with(&[("/mine", "sb_1")]).await;
        let (remover, _tasks, _stop) = started(&engine, "/mine");
        remover.keep(&SandboxId("sb_1".to_owned()));
        for _ in 0..2 {
            engine.next(Call::Remove, Turn::Away);
        }
        remove(&remover, "sb_1");
        tokio::time::sleep(AGAIN * 2).await;
        assert_eq!(left(&engine).await, ["sb_1"], "the second failed too");
        tokio::time::sleep(AGAIN * 2).await;
        assert!(left(&engine).await.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_nobodys_and_was_made_over_these_records_goes_at_once() {
        let made = [("/mine", "sb_1"), ("/mine", "sb_2"), ("/other", "sb_3")];
        let engine = engine_with(&made).await;
        let (remover, _tasks, _stop) = started(&engine, "/mine");
        remover.keep(&SandboxId("sb_1".to_owned()));
        tokio::time::sleep(SECOND).await;
        assert_eq!(left(&engine).await, ["sb_1", "sb_3"]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_into_being_later_is_found_by_a_sweep() {
        let engine = engine_with(&[]).await;
        let (_remover, _tasks, _stop) = started(&engine, "/mine");
        tokio::time::sleep(SECOND).await;
        let image = engine.image("image").await.unwrap().unwrap();
        let mut spec = spec_at("/mine", "sb_9");
        spec.image = image.id.clone();
        engine.create(&spec).await.unwrap();
        tokio::time::sleep(SECOND * 55).await;
        assert_eq!(left(&engine).await, ["sb_9"], "too early to know");
        tokio::time::sleep(SECOND * 10).await;
        assert!(left(&engine).await.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_daemon_leaves_no_container_of_its_own() {
        let made = [("/mine", "sb_1"), ("/mine", "sb_2"), ("/other", "sb_3")];
        let engine = engine_with(&made).await;
        let (remover, tasks, stop) = started(&engine, "/mine");
        remover.keep(&SandboxId("sb_1".to_owned()));
        remove(&remover, "sb_2");
        stop.cancel();
        tasks.wait().await;
        assert_eq!(left(&engine).await, ["sb_3"]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_daemon_does_not_wait_for_an_engine_that_hangs() {
        let made = [("/mine", "sb_1"), ("/mine", "sb_2")];
        let engine = engine_with(&made).await;
        let (remover, tasks, stop) = started(&engine, "/mine");
        for _ in 0..2 {
            engine.next(Call::Remove, Turn::Late(SECOND * 50));
        }
        remove(&remover, "sb_1");
        let began = Instant::now();
        stop.cancel();
        tasks.wait().await;
        assert_eq!(began.elapsed(), LAST);
        assert_eq!(left(&engine).await, ["sb_1"]);
    }
}
