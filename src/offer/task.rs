use super::speaker::Turn;
use super::{
    JobView, Latencies, Levels, OfferFacts, OfferPlan, Speaker, Statement,
    statements,
};
use crate::capacity::Snapshot;
use crate::contract::Clock;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Where offers go. It neither waits nor fails: what could not be sent is
/// said again soon, and then with newer numbers.
pub trait Say: Send + Sync + 'static {
    /// Sends them, in this order.
    fn say(&self, offers: Vec<Statement>);
}

impl<F: Fn(Vec<Statement>) + Send + Sync + 'static> Say for F {
    fn say(&self, offers: Vec<Statement>) {
        self(offers);
    }
}

/// What the task is made of.
#[derive(Clone)]
pub struct OfferParts {
    /// What the owner lets be offered.
    pub plan: Arc<OfferPlan>,
    /// What is measured.
    pub snapshots: watch::Receiver<Snapshot>,
    /// What the side of the jobs knows.
    pub views: watch::Receiver<JobView>,
    /// How long operations took.
    pub latencies: Latencies,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where offers go.
    pub out: Arc<dyn Say>,
}

/// Says offers until `stop`, then the last word. A panic anywhere in it is
/// logged and the task started anew: a node that falls silent looks dead,
/// and one that goes on with old words is worse.
pub fn start(
    parts: OfferParts,
    tracker: &TaskTracker,
    stop: CancellationToken,
) {
    tracker.spawn(supervise(parts, tracker.clone(), stop));
}

async fn supervise(
    parts: OfferParts,
    tracker: TaskTracker,
    stop: CancellationToken,
) {
    // Long enough that a task which panics at once does not eat a core.
    let pause = Duration::from_secs(1);
    loop {
        let task = OfferTask::new(parts.clone(), stop.clone());
        match tracker.spawn(task.run()).await {
            Ok(()) => return,
            Err(error) => {
                tracing::error!(%error, "the offer task is started anew");
                sleep(pause).await;
            }
        }
        if stop.is_cancelled() {
            return;
        }
    }
}

struct OfferTask {
    parts: OfferParts,
    stop: CancellationToken,
    speaker: Speaker,
}

enum Input {
    Stop,
    Changed,
}

impl OfferTask {
    fn new(parts: OfferParts, stop: CancellationToken) -> Self {
        // Two nodes started in one millisecond still differ by their ids.
        let id = parts.plan.identity.node.as_str();
        let seed = id.bytes().fold(parts.clock.now().wall.0, |seed, byte| {
            seed.wrapping_mul(31).wrapping_add(u64::from(byte))
        });
        let speaker = Speaker::new(parts.plan.interval, seed);
        Self { parts, stop, speaker }
    }

    async fn run(mut self) {
        loop {
            let wait = self.speak();
            if let Input::Stop = self.next(wait).await {
                let now = self.parts.clock.now();
                let words = self.speaker.last_words(now);
                self.say(words);
                return;
            }
        }
    }

    /// Says what is due and tells how long nothing else will be.
    fn speak(&mut self) -> Duration {
        let latency = self.parts.latencies.summary();
        let snapshot = self.parts.snapshots.borrow_and_update().clone();
        let view = self.parts.views.borrow_and_update().clone();
        let now = self.parts.clock.now();
        let facts = OfferFacts {
            plan: &self.parts.plan,
            snapshot: &snapshot,
            view: &view,
            latency: &latency,
            now,
        };
        let levels = Levels::of(&facts);
        let Turn { say, wake } =
            self.speaker.turn(statements(&facts), levels, now);
        self.say(say);
        Duration::from_millis(wake.0.saturating_sub(now.boot.0))
    }

    async fn next(&mut self, wait: Duration) -> Input {
        // A timer of the kernel's other clock stands still while the machine
        // sleeps; a look a second finds that it did.
        let wait = wait.min(Duration::from_secs(1));
        let OfferParts { snapshots, views, .. } = &mut self.parts;
        tokio::select! {
            biased; // changes without end must not hide the stop
            () = self.stop.cancelled() => Input::Stop,
            () = changed(snapshots) => Input::Changed,
            () = changed(views) => Input::Changed,
            () = sleep(wait) => Input::Changed,
        }
    }

    fn say(&self, offers: Vec<Statement>) {
        if !offers.is_empty() {
            self.parts.out.say(offers);
        }
    }
}

/// A change. Who has nothing more to say (its task ended) changes nothing,
/// and must not wake this one for ever.
async fn changed<T>(watched: &mut watch::Receiver<T>) {
    if watched.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}
