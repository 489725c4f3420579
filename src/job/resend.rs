use crate::contract::{Clock, JobId};
use crate::ledger::{Ledger, RowState};
use crate::link::{Outbox, Outgoing};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The first repeat of an exit that nobody acknowledged.
const FIRST: Duration = Duration::from_secs(1);
/// The longest pause between repeats.
const LONGEST: Duration = Duration::from_secs(3600);
/// After a week an exit settles without an acknowledgement.
const GIVE_UP_MS: u64 = 7 * 24 * 3600 * 1000;
/// Requests that wait: each is an id, and one that finds the queue full is
/// made up for by the timer.
const QUEUE: usize = 1024;

/// Says exits again until they are acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct Resender {
    requests: mpsc::Sender<Request>,
}

#[derive(Debug)]
enum Request {
    /// It was just said for the first time.
    Added(JobId),
    /// Say it now.
    Now(JobId),
    /// Say all of them now.
    All,
}

/// The task behind it.
pub(crate) struct ResendTask {
    requests: mpsc::Receiver<Request>,
    ledger: Ledger,
    outbox: Outbox,
    clock: Arc<dyn Clock>,
    /// A number between 0 and 1, so that a fleet does not speak in chorus.
    jitter: Arc<dyn Fn() -> f64 + Send + Sync>,
    stop: CancellationToken,
    /// When each is due, and the pause that follows.
    due: BTreeMap<JobId, (Instant, Duration)>,
}

impl Resender {
    pub(crate) fn new() -> (Self, Requests) {
        let (requests, taken) = mpsc::channel(QUEUE);
        (Self { requests }, Requests(taken))
    }

    /// An exit was said for the first time.
    pub(crate) fn add(&self, id: &JobId) {
        self.ask(Request::Added(id.clone()));
    }

    /// Somebody asks how it ended.
    pub(crate) fn now(&self, id: &JobId) {
        self.ask(Request::Now(id.clone()));
    }

    /// The link was away: whatever was said may not have been heard.
    pub(crate) fn all(&self) {
        self.ask(Request::All);
    }

    fn ask(&self, request: Request) {
        if self.requests.try_send(request).is_err() {
            tracing::warn!("an exit is said again only when its time comes");
        }
    }
}

/// The other end, before its task is there.
pub(crate) struct Requests(mpsc::Receiver<Request>);

impl ResendTask {
    pub(crate) fn new(
        Requests(requests): Requests,
        (ledger, outbox): (Ledger, Outbox),
        clock: Arc<dyn Clock>,
        jitter: Arc<dyn Fn() -> f64 + Send + Sync>,
        stop: CancellationToken,
    ) -> Self {
        let due = BTreeMap::new();
        Self { requests, ledger, outbox, clock, jitter, stop, due }
    }

    pub(crate) async fn run(mut self) {
        loop {
            // An id that found the queue full is found in the ledger.
            let wake = self.due.values().map(|(at, _)| *at).min();
            let idle = Instant::now() + Duration::from_secs(60);
            let heard = tokio::select! {
                () = self.stop.cancelled() => return,
                request = self.requests.recv() => request,
                () = tokio::time::sleep_until(wake.unwrap_or(idle).min(idle)) => {
                    self.find_missing();
                    None
                }
            };
            let asked = matches!(heard, Some(Request::Now(_)));
            let now = match heard {
                Some(Request::Added(id)) => {
                    self.schedule(id, FIRST);
                    continue;
                }
                Some(Request::Now(id)) => vec![id],
                Some(Request::All) => self.ledger.unacknowledged(),
                None => self.overdue(),
            };
            for id in now {
                if self.say(&id, asked).await.is_err() {
                    return;
                }
            }
        }
    }

    fn find_missing(&mut self) {
        if self.due.len() == self.ledger.counts().unacknowledged {
            return;
        }
        for id in self.ledger.unacknowledged() {
            if !self.due.contains_key(&id) {
                self.schedule(id, FIRST);
            }
        }
    }

    fn overdue(&self) -> Vec<JobId> {
        let now = Instant::now();
        let due = self.due.iter().filter(|(_, (at, _))| *at <= now);
        due.map(|(id, _)| id.clone()).collect()
    }

    fn schedule(&mut self, id: JobId, pause: Duration) {
        let spread = 0.9 + 0.2 * (self.jitter)().clamp(0.0, 1.0);
        let at = Instant::now() + pause.mul_f64(spread);
        self.due.insert(id, (at, pause.saturating_mul(2).min(LONGEST)));
    }

    /// Says one exit again, unless it is settled by now: then only if
    /// somebody asked.
    async fn say(&mut self, id: &JobId, asked: bool) -> Result<(), ()> {
        let Some(row) = self.ledger.lookup(id) else {
            self.due.remove(id);
            return Ok(());
        };
        let exit = match &row.state {
            RowState::Ended(exit) => {
                let now = self.clock.now();
                if now.wall.0 > exit.at.0.saturating_add(GIVE_UP_MS) {
                    self.due.remove(id);
                    drop(self.ledger.given_up(id, now));
                    return Ok(());
                }
                let pause = self.due.get(id).map_or(FIRST, |(_, next)| *next);
                self.schedule(id.clone(), pause);
                exit.clone()
            }
            RowState::Settled(exit) | RowState::Unacked(exit) => {
                self.due.remove(id);
                match exit {
                    Some(exit) if asked => exit.clone(),
                    Some(_) | None => return Ok(()),
                }
            }
            // What has no exit must not stay due for ever.
            RowState::Held | RowState::Tombstone => {
                self.due.remove(id);
                return Ok(());
            }
        };
        let frame = Outgoing {
            subject: exit.subject,
            payload: exit.payload,
            reasons: exit.reasons,
            message_id: Some(format!("{id}.exit")),
        };
        tokio::select! {
            () = self.stop.cancelled() => Err(()),
            sent = self.outbox.send(frame) => sent.map_err(|_| ()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{BootMs, MonoMs, Now, Timestamp};
    use crate::job::testing::{START, dispatcher, job_id};
    use crate::ledger::{Admission, StoredExit};
    use crate::link::outbox;

    struct TestClock(Instant);

    impl Clock for TestClock {
        fn now(&self) -> Now {
            let ms = u64::try_from(self.0.elapsed().as_millis()).unwrap();
            let wall = Timestamp(START + ms);
            Now { wall, mono: MonoMs(ms), boot: BootMs(ms) }
        }
    }

    struct Stage {
        ledger: Ledger,
        resender: Resender,
        out: mpsc::Receiver<Outgoing>,
        began: Instant,
    }

    impl Stage {
        fn new() -> Self {
            let (sent, out, _) = outbox();
            let ledger = Ledger::in_memory(Timestamp(START - 1));
            let (resender, requests) = Resender::new();
            let began = Instant::now();
            let task = ResendTask::new(
                requests,
                (ledger.clone(), sent),
                Arc::new(TestClock(began)),
                Arc::new(|| 0.5),
                CancellationToken::new(),
            );
            tokio_util::task::TaskTracker::new().spawn(task.run());
            Self { ledger, resender, out, began }
        }

        /// A job that ended just now.
        fn ended(&self, n: u64) -> JobId {
            let id = job_id(0, n);
            let received = Now::default();
            let (dispatcher, hash) = (dispatcher("alice"), String::new());
            let row = Admission { id: id.clone(), dispatcher, hash, received };
            self.ledger.admit(row).unwrap();
            let exit = StoredExit {
                subject: format!("exit.{n}"),
                payload: "the same bytes".into(),
                reasons: vec![],
                at: Timestamp(START),
            };
            self.ledger.ended(&id, exit).unwrap();
            id
        }

        /// The next frame, and after how many seconds it came.
        async fn next(&mut self) -> (Outgoing, u64) {
            let frame = self.out.recv().await.unwrap();
            (frame, self.began.elapsed().as_secs())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_exit_is_said_again_ever_more_rarely_in_the_same_bytes() {
        let mut stage = Stage::new();
        let id = stage.ended(1);
        stage.resender.add(&id);
        let mut before = 0;
        for pause in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600] {
            let (frame, at) = stage.next().await;
            assert_eq!(&*frame.payload, b"the same bytes");
            assert!(at.abs_diff(before + pause) <= 1, "{at} after {before}");
            before = at;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_exit_that_is_acknowledged_is_not_said_again() {
        let mut stage = Stage::new();
        let id = stage.ended(1);
        stage.resender.add(&id);
        stage.next().await;
        stage.ledger.acknowledged(&id, Now::default()).unwrap();
        let quiet = Duration::from_secs(100_000);
        assert!(tokio::time::timeout(quiet, stage.next()).await.is_err());
        // Whoever asks is told all the same, once.
        stage.resender.now(&id);
        stage.next().await;
        assert!(tokio::time::timeout(quiet, stage.next()).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_reconnect_all_are_said_at_once() {
        let mut stage = Stage::new();
        let ids = [stage.ended(1), stage.ended(2)];
        stage.resender.all();
        let found = [stage.next().await, stage.next().await];
        assert_eq!(
            found.map(|(frame, at)| (frame.subject, at)),
            [("exit.1".to_owned(), 0), ("exit.2".to_owned(), 0),]
        );
        assert_eq!(stage.ledger.unacknowledged(), ids);
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_week_it_settles_unacknowledged() {
        let mut stage = Stage::new();
        let id = stage.ended(1);
        stage.resender.add(&id);
        while stage.ledger.counts().unacked == 0 {
            let hour = Duration::from_secs(7_200);
            drop(tokio::time::timeout(hour, stage.next()).await);
        }
        let days = stage.began.elapsed().as_secs() / 86_400;
        assert_eq!(days, 7);
    }

    #[tokio::test(start_paused = true)]
    async fn an_exit_whose_request_was_dropped_is_found_in_the_ledger() {
        let mut stage = Stage::new();
        stage.ended(1);
        let (_, at) = stage.next().await;
        assert!(at <= 70, "after {at} s");
    }
}
