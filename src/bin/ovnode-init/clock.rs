//! The two clocks of a job: its own time stands still while the machine
//! sleeps, its time to live does not.
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::time::Duration;

/// CLOCK_MONOTONIC.
pub(crate) fn mono() -> Duration {
    duration(clock_gettime(ClockId::Monotonic))
}

/// CLOCK_BOOTTIME.
pub(crate) fn boot() -> Duration {
    duration(clock_gettime(ClockId::Boottime))
}

/// Whole milliseconds, as they are written in records.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) mono: Duration,
    pub(crate) boot: Duration,
}

impl Moment {
    pub(crate) fn now() -> Self {
        Self { mono: mono(), boot: boot() }
    }
}

fn duration(time: Timespec) -> Duration {
    // Neither clock is ever negative.
    Duration::try_from(time).unwrap_or_default()
}
