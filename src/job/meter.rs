use crate::contract::MonoMs;
use std::time::Duration;

/// How late a reading of the CPU may come and still count as that of a
/// second's edge: a twentieth, so a second's own number is off by no more.
const EDGE_MS: u64 = 50;

/// One second of job time that was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Second {
    /// From 0.
    pub(crate) second: u64,
    /// CPU of that second alone; absent if it was not measured at both of
    /// its edges.
    pub(crate) cpu_ms: Option<u64>,
}

/// Counts the seconds of one job, contiguous from 0: second n is due once
/// the job was seen alive at job time n+1 s or later.
#[derive(Debug)]
pub(crate) struct Meter {
    started: MonoMs,
    /// Seconds that are due.
    due: u64,
    /// Seconds that were taken to be sent.
    sent: u64,
    /// The last reading close behind an edge: which edge, and the CPU.
    edge: Option<(u64, u64)>,
    /// CPU of due seconds that are not sent yet, where it is known.
    measured: std::collections::VecDeque<(u64, u64)>,
}

impl Meter {
    /// A meter of a job whose exec was at `started`; `cpu` is what its
    /// sandbox had used by then.
    pub(crate) fn new(started: MonoMs, cpu: Option<Duration>) -> Self {
        let edge = cpu.map(|cpu| (0, whole_ms(cpu)));
        let measured = std::collections::VecDeque::new();
        Self { started, due: 0, sent: 0, edge, measured }
    }

    /// The job was seen alive at `now`, having used `cpu` by then.
    pub(crate) fn alive(&mut self, now: MonoMs, cpu: Option<Duration>) {
        let time = now.0.saturating_sub(self.started.0);
        let edge = time / 1000;
        if edge <= self.due {
            return;
        }
        self.due = edge;
        let read = cpu.filter(|_| time % 1000 <= EDGE_MS).map(whole_ms);
        if let (Some((last, before)), Some(after)) = (self.edge, read)
            && last + 1 == edge
        {
            let used = after.saturating_sub(before);
            self.measured.push_back((last, used));
        }
        self.edge = read.map(|cpu| (edge, cpu));
    }

    /// The job ended after `wall`, by its own record: seconds that were not
    /// seen follow late.
    pub(crate) fn ended(&mut self, wall: Duration) {
        self.due = self.due.max(wall.as_secs());
    }

    /// The next second to be sent, if one is due.
    pub(crate) fn take(&mut self) -> Option<Second> {
        let second = (self.sent < self.due).then_some(self.sent)?;
        self.sent += 1;
        let known = self.measured.front().filter(|(of, _)| *of == second);
        let cpu_ms = known.map(|(_, used)| *used);
        if cpu_ms.is_some() {
            self.measured.pop_front();
        }
        Some(Second { second, cpu_ms })
    }

    /// When the next second is due.
    pub(crate) fn next_due(&self) -> MonoMs {
        MonoMs(self.started.0 + (self.due + 1) * 1000)
    }

    /// `wall_ms` of the exit: the record's, and never less than the seconds
    /// that were sent.
    pub(crate) fn covered(&self, wall_ms: u64) -> u64 {
        wall_ms.max(self.due * 1000)
    }
}

/// Whole milliseconds of a duration.
pub(crate) fn whole_ms(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: MonoMs = MonoMs(5_000);

    fn at(ms: u64) -> MonoMs {
        MonoMs(START.0 + ms)
    }
    fn cpu(ms: u64) -> Option<Duration> {
        Some(Duration::from_millis(ms))
    }
    fn taken(meter: &mut Meter) -> Vec<(u64, Option<u64>)> {
        let all = std::iter::from_fn(|| meter.take());
        all.map(|s| (s.second, s.cpu_ms)).collect()
    }

    #[test]
    fn a_second_is_due_once_the_job_was_seen_alive_behind_it() {
        let mut meter = Meter::new(START, cpu(20));
        assert_eq!(meter.next_due(), at(1000));
        meter.alive(at(999), cpu(500));
        assert_eq!(taken(&mut meter), []);
        meter.alive(at(1000), cpu(520));
        assert_eq!(taken(&mut meter), [(0, Some(500))]);
        assert_eq!(meter.next_due(), at(2000));
        meter.alive(at(2001), cpu(1520));
        assert_eq!(taken(&mut meter), [(1, Some(1000))]);
    }

    #[test]
    fn seconds_that_were_not_looked_at_have_no_cpu_of_their_own() {
        let mut meter = Meter::new(START, cpu(0));
        meter.alive(at(3010), cpu(900)); // slept through two edges
        meter.alive(at(4010), cpu(1900));
        let want = [(0, None), (1, None), (2, None), (3, Some(1000))];
        assert_eq!(taken(&mut meter), want);
    }

    #[test]
    fn a_reading_too_far_behind_its_edge_measures_nothing() {
        let mut meter = Meter::new(START, cpu(0));
        meter.alive(at(1300), cpu(1100));
        meter.alive(at(2000), cpu(1800));
        meter.alive(at(3000), cpu(2800));
        let want = [(0, None), (1, None), (2, Some(1000))];
        assert_eq!(taken(&mut meter), want);
    }

    #[test]
    fn without_a_reading_there_is_no_number_and_no_zero() {
        let mut meter = Meter::new(START, None);
        meter.alive(at(1000), None);
        assert_eq!(taken(&mut meter), [(0, None)]);
    }

    #[test]
    fn the_seconds_of_the_record_follow_late() {
        let mut meter = Meter::new(START, cpu(0));
        meter.alive(at(1000), cpu(10));
        meter.ended(Duration::from_millis(3_999));
        assert_eq!(taken(&mut meter), [(0, Some(10)), (1, None), (2, None)]);
        assert_eq!(meter.covered(3_999), 3_999);
    }

    #[test]
    fn wall_covers_every_second_that_was_sent() {
        let mut meter = Meter::new(START, cpu(0));
        meter.alive(at(2003), cpu(10)); // it ended at 1999, unseen until now
        meter.ended(Duration::from_millis(1_999));
        assert_eq!(taken(&mut meter).len(), 2);
        assert_eq!(meter.covered(1_999), 2_000);
    }

    proptest! {
        #[test]
        fn seconds_are_contiguous_and_never_before_their_time(
            steps in prop::collection::vec((0_u64..2_500, any::<bool>()), 0..40),
        ) {
            let mut meter = Meter::new(START, cpu(0));
            let (mut time, mut next) = (0, 0);
            for (step, read) in steps {
                time += step;
                meter.alive(at(time), cpu(time).filter(|_| read));
                while let Some(second) = meter.take() {
                    prop_assert_eq!(second.second, next);
                    prop_assert!((next + 1) * 1000 <= time);
                    next += 1;
                }
                prop_assert_eq!(next, time / 1000);
                prop_assert!(meter.covered(0) >= next * 1000);
            }
        }
    }
}
