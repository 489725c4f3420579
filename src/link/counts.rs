use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// What the link had to drop, refuse or start over since the daemon began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Requests refused because their queue was full.
    pub refused: u64,
    /// Refusals that could not even be queued.
    pub unrefused: u64,
    /// Questions dropped because their queue was full.
    pub asks: u64,
    /// Answers dropped because the outbox was full.
    pub answers: u64,
    /// Messages whose subject or sender made no sense.
    pub strays: u64,
    /// Messages that the client dropped before the reader saw them.
    pub slow: u64,
    /// Messages that the server would never take (too large).
    pub unsendable: u64,
    /// Offers dropped because too many subjects were in use.
    pub offers: u64,
    /// Connections made.
    pub sessions: u64,
    /// Sessions ended by a fault of our own.
    pub panics: u64,
    /// Messages of other daemons under our id that came later than we.
    pub rivals: u64,
}

/// One of the counters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Count {
    Refused,
    Unrefused,
    Asks,
    Answers,
    Strays,
    Slow,
    Unsendable,
    Offers,
    Sessions,
    Panics,
    Rivals,
}

/// How often one thing may be logged: a flood must not fill the disk.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// The counters as the link's parts share them.
#[derive(Debug, Default)]
pub(super) struct Counts {
    counts: [AtomicU64; 11],
    logged: Mutex<[Option<Instant>; 11]>,
}

impl Counts {
    /// Counts one more, without a word.
    pub(super) fn add(&self, what: Count) -> u64 {
        let counter = &self.counts[what as usize];
        counter.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    /// Counts one more and logs it, at most once in ten seconds each.
    pub(super) fn warn(&self, what: Count, message: &'static str) {
        let total = self.add(what);
        if self.may_log(what) {
            tracing::warn!(total, "{message}");
        }
    }

    fn may_log(&self, what: Count) -> bool {
        let now = Instant::now();
        // A poisoned lock costs no more than a line of the log.
        let Ok(mut logged) = self.logged.lock() else { return false };
        let last = &mut logged[what as usize];
        let due = last.is_none_or(|at| now.duration_since(at) >= LOG_EVERY);
        if due {
            *last = Some(now);
        }
        due
    }

    fn get(&self, what: Count) -> u64 {
        self.counts[what as usize].load(Ordering::Relaxed)
    }

    /// All of them, now.
    pub(super) fn snapshot(&self) -> LinkCounts {
        LinkCounts {
            refused: self.get(Count::Refused),
            unrefused: self.get(Count::Unrefused),
            asks: self.get(Count::Asks),
            answers: self.get(Count::Answers),
            strays: self.get(Count::Strays),
            slow: self.get(Count::Slow),
            unsendable: self.get(Count::Unsendable),
            offers: self.get(Count::Offers),
            sessions: self.get(Count::Sessions),
            panics: self.get(Count::Panics),
            rivals: self.get(Count::Rivals),
        }
    }
}
