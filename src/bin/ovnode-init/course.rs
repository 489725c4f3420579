//! How a job is brought to its end. Pure: it is told what happened and when,
//! and says which signal to send.
use ovnode::init::EndedBy;
use std::time::Duration;

/// After a KILL, until it is sent again: processes that were being made, or
/// hung in the kernel, get it on a later round.
const AGAIN: Duration = Duration::from_millis(20);
/// No more than this often.
const AGAIN_AT_MOST: Duration = Duration::from_secs(1);
/// A process that KILL has not ended by then hangs in the kernel. The record
/// is written without it; it dies with PID 1 as soon as it can.
const GIVE_UP: Duration = Duration::from_secs(10);

/// A signal to everyone in the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Term,
    Kill,
}

/// How far the end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Running,
    /// TERM was sent.
    Asked {
        kill_at: Duration,
    },
    /// KILL was sent.
    Killing {
        again_at: Duration,
        pause: Duration,
        give_up_at: Duration,
    },
}

/// A job's way to its end.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    stage: Stage,
    by: EndedBy,
}

impl Course {
    pub(crate) const fn new() -> Self {
        Self { stage: Stage::Running, by: EndedBy::Program }
    }

    /// Somebody or something ends the job. The first to do so is the reason;
    /// a later one with a shorter grace only hastens it.
    pub(crate) fn end(
        &mut self,
        by: EndedBy,
        grace: Duration,
        now: Duration,
    ) -> Option<Act> {
        let until = now.saturating_add(grace);
        match self.stage {
            Stage::Running => {
                self.by = by;
                self.stage = Stage::Asked { kill_at: until };
                Some(Act::Term)
            }
            Stage::Asked { kill_at } => {
                self.stage = Stage::Asked { kill_at: kill_at.min(until) };
                None
            }
            Stage::Killing { .. } => None,
        }
    }

    /// The job's first process is gone: whatever it left behind goes too.
    pub(crate) fn leader_gone(&mut self, now: Duration) -> Option<Act> {
        match self.stage {
            Stage::Running | Stage::Asked { .. } => Some(self.kill(now)),
            Stage::Killing { .. } => None,
        }
    }

    /// What was still in a pipe when all was over went beyond its limit: a
    /// job is not within limits only because it was quick.
    pub(crate) fn went_over(&mut self, by: EndedBy) {
        if self.by == EndedBy::Program {
            self.by = by;
        }
    }

    /// Time went by.
    pub(crate) fn tick(&mut self, now: Duration) -> Option<Act> {
        match &mut self.stage {
            Stage::Asked { kill_at } if *kill_at <= now => Some(self.kill(now)),
            Stage::Killing { again_at, pause, .. } if *again_at <= now => {
                *pause = pause.saturating_mul(2).min(AGAIN_AT_MOST);
                *again_at = now.saturating_add(*pause);
                Some(Act::Kill)
            }
            Stage::Running | Stage::Asked { .. } | Stage::Killing { .. } => {
                None
            }
        }
    }

    /// When `tick` has something to do.
    pub(crate) const fn due(&self) -> Option<Duration> {
        match self.stage {
            Stage::Running => None,
            Stage::Asked { kill_at } => Some(kill_at),
            Stage::Killing { again_at, .. } => Some(again_at),
        }
    }

    /// Whether nothing more can be done about what is still alive.
    pub(crate) fn given_up(&self, now: Duration) -> bool {
        matches!(self.stage, Stage::Killing { give_up_at, .. }
            if give_up_at <= now)
    }

    /// Whether its end has begun.
    pub(crate) fn is_ending(&self) -> bool {
        self.stage != Stage::Running
    }

    /// Who or what ended it.
    pub(crate) const fn ended_by(&self) -> EndedBy {
        self.by
    }

    fn kill(&mut self, now: Duration) -> Act {
        self.stage = Stage::Killing {
            again_at: now.saturating_add(AGAIN),
            pause: AGAIN,
            give_up_at: now.saturating_add(GIVE_UP),
        };
        Act::Kill
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_job_that_ends_by_itself_takes_its_family_along() {
        let mut course = Course::new();
        assert_eq!(course.due(), None);
        assert_eq!(course.leader_gone(ms(5)), Some(Act::Kill));
        assert_eq!(course.ended_by(), EndedBy::Program);
        assert_eq!(course.leader_gone(ms(6)), None);
    }

    #[test]
    fn a_job_is_asked_and_then_killed_when_its_grace_ends() {
        let mut course = Course::new();
        let asked = course.end(EndedBy::Wall, ms(100), ms(1000));
        assert_eq!(asked, Some(Act::Term));
        assert_eq!(course.due(), Some(ms(1100)));
        assert_eq!(course.tick(ms(1099)), None);
        assert_eq!(course.tick(ms(1100)), Some(Act::Kill));
        assert_eq!(course.ended_by(), EndedBy::Wall);
    }

    #[test]
    fn the_first_reason_stays_and_the_shorter_grace_holds() {
        let mut course = Course::new();
        course.end(EndedBy::Ttl, ms(5000), ms(0));
        assert_eq!(course.end(EndedBy::Cancel, ms(10), ms(100)), None);
        assert_eq!(course.due(), Some(ms(110)));
        assert_eq!(course.end(EndedBy::Wall, ms(9000), ms(101)), None);
        assert_eq!(course.due(), Some(ms(110)));
        assert_eq!(course.ended_by(), EndedBy::Ttl);
    }

    #[test]
    fn a_job_gone_within_its_grace_was_still_ended_by_the_cancel() {
        let mut course = Course::new();
        course.end(EndedBy::Cancel, ms(5000), ms(0));
        assert_eq!(course.leader_gone(ms(3)), Some(Act::Kill));
        assert_eq!(course.ended_by(), EndedBy::Cancel);
    }

    #[test]
    fn killing_is_repeated_ever_more_rarely_and_given_up() {
        let mut course = Course::new();
        course.leader_gone(ms(0));
        let (mut rounds, mut now) = (0, ms(0));
        while !course.given_up(now) {
            now = course.due().unwrap();
            assert_eq!(course.tick(now), Some(Act::Kill));
            rounds += 1;
        }
        assert!((10..30).contains(&rounds), "{rounds}");
        assert!(now < ms(12_000));
    }

    #[test]
    fn going_over_a_limit_at_the_last_moment_counts() {
        let mut course = Course::new();
        course.leader_gone(ms(0));
        course.went_over(EndedBy::Output);
        assert_eq!(course.ended_by(), EndedBy::Output);
        course.went_over(EndedBy::Result);
        assert_eq!(course.ended_by(), EndedBy::Output);
    }

    #[test]
    fn an_endless_grace_is_no_overflow() {
        let mut course = Course::new();
        course.end(EndedBy::Cancel, Duration::MAX, ms(1));
        assert_eq!(course.due(), Some(Duration::MAX));
    }
}
