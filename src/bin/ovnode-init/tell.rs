use crate::link::Link;
use ovnode::init::FromInit;
use std::time::Duration;

/// Between two words about stdout: a job that prints line by line makes no
/// storm, and nobody sees the difference.
const PAUSE: Duration = Duration::from_millis(5);

/// What the daemon was told of stdout. The bytes are in the ring; the word
/// only says how far to read, so a later one makes up for all before it.
#[derive(Default)]
pub(crate) struct Told {
    end: u64,
    next_at: Duration,
}

impl Told {
    /// Forgets: whoever listens now was told nothing.
    pub(crate) fn nothing(&mut self) {
        self.end = 0;
    }

    /// When there is something to say, if nothing else happens. While the
    /// daemon has not taken what was said before, that is not for us to know.
    pub(crate) fn due(&self, end: u64, link: &Link) -> Option<Duration> {
        (end > self.end && link.is_clear()).then_some(self.next_at)
    }

    /// Tells, where it is time to.
    pub(crate) fn output(&mut self, end: u64, link: &mut Link, now: Duration) {
        if self.due(end, link).is_some_and(|at| at <= now) {
            self.last(end, link);
            self.next_at = now.saturating_add(PAUSE);
        }
    }

    /// Tells at once, whatever is still on its way: nothing will follow.
    pub(crate) fn last(&mut self, end: u64, link: &mut Link) {
        if end > self.end {
            link.say(&FromInit::Output { end });
            self.end = end;
        }
    }
}
