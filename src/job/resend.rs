use crate::contract::{Clock, JobId};
use crate::ledger::{Ledger, RowState, StoredExit};
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
            let (now, asked) = match heard {
                Some(Request::Added(id)) => {
                    self.schedule(id, FIRST);
                    continue;
                }
                Some(Request::Now(id)) => (vec![id], true),
                Some(Request::All) => (self.ledger.unacknowledged(), false),
                None => (self.overdue(), false),
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

    /// Says one exit again. Once it is settled, only whoever asks for it
    /// hears it, and only that once.
    async fn say(&mut self, id: &JobId, asked: bool) -> Result<(), ()> {
        let state = self.ledger.lookup(id).map(|row| row.state);
        let exit = match state {
            Some(RowState::Ended(exit)) => self.still_owed(id, exit),
            Some(RowState::Settled(exit) | RowState::Unacked(exit)) => {
                self.due.remove(id);
                exit.filter(|_| asked)
            }
            // What has no exit must not be due for ever.
            Some(RowState::Held | RowState::Tombstone) | None => {
                self.due.remove(id);
                None
            }
        };
        let Some(exit) = exit else { return Ok(()) };
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

    /// An exit that nobody acknowledged, unless that is given up.
    fn still_owed(
        &mut self,
        id: &JobId,
        exit: StoredExit,
    ) -> Option<StoredExit> {
        let now = self.clock.now();
        if now.wall.0 > exit.at.0.saturating_add(GIVE_UP_MS) {
            self.due.remove(id);
            if let Err(err) = self.ledger.given_up(id, now) {
                tracing::warn!(error = %err, "an exit was not given up");
            }
            return None;
        }
        let pause = self.due.get(id).map_or(FIRST, |(_, next)| *next);
        self.schedule(id.clone(), pause);
        Some(exit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Now, Timestamp};
    use crate::job::testing::{START, dispatcher, job_id};
    use crate::ledger::Admission;
    use crate::link::outbox;
    use tokio_util::task::TaskTracker;

    struct Still;

    impl Clock for Still {
        fn now(&self) -> Now {
            Now { wall: Timestamp(START), ..Now::default() }
        }
    }

    /// A task over one job that ended, what it is told by, and what it says.
    fn ended() -> (Ledger, Resender, mpsc::Receiver<Outgoing>, JobId) {
        let (ledger, id) = (Ledger::in_memory(Timestamp(0)), job_id(0, 1));
        let (dispatcher, hash) = (dispatcher("alice"), String::new());
        let received = Still.now();
        let row = Admission { id: id.clone(), dispatcher, hash, received };
        ledger.admit(row).unwrap();
        let exit = StoredExit {
            subject: "exit".to_owned(),
            payload: "{}".into(),
            reasons: Vec::new(),
            at: Timestamp(START),
        };
        ledger.ended(&id, exit).unwrap();
        let (resender, requests) = Resender::new();
        let (out, frames, _) = outbox();
        let ways = (ledger.clone(), out);
        let stop = CancellationToken::new();
        let half = Arc::new(|| 0.5);
        let task = ResendTask::new(requests, ways, Arc::new(Still), half, stop);
        TaskTracker::new().spawn(task.run());
        (ledger, resender, frames, id)
    }

    #[tokio::test(start_paused = true)]
    async fn an_exit_is_said_again_until_it_is_acknowledged_and_no_more() {
        let (ledger, resender, mut frames, id) = ended();
        resender.add(&id);
        let begun = Instant::now();
        for secs in [1, 3, 7] {
            frames.recv().await.unwrap();
            assert_eq!(begun.elapsed().as_secs(), secs);
        }
        ledger.acknowledged(&id, Still.now()).unwrap();
        let hour = Duration::from_secs(3600);
        let more = tokio::time::timeout(hour, frames.recv()).await;
        assert!(more.is_err(), "said after its acknowledgement");
        resender.now(&id);
        assert_eq!(frames.recv().await.unwrap().subject, "exit");
        let more = tokio::time::timeout(hour, frames.recv()).await;
        assert!(more.is_err(), "said more often than it was asked for");
    }
}
