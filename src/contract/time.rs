use serde::{Deserialize, Serialize};

/// A moment of wall time, Unix milliseconds. Anything stored or sent uses it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord,
    Serialize, Deserialize,
)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// RFC 3339 in UTC with milliseconds, as the contracts' `date-time`.
    pub fn to_rfc3339(self) -> String {
        let ms = i64::try_from(self.0).unwrap_or(i64::MAX);
        let at = jiff::Timestamp::from_millisecond(ms)
            .unwrap_or(jiff::Timestamp::MAX);
        format!("{at:.3}")
    }
}

/// Milliseconds of CLOCK_MONOTONIC: stands still while the machine sleeps.
/// All job time is counted on it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize,
    Deserialize,
)]
pub struct MonoMs(pub u64);

/// Milliseconds of CLOCK_BOOTTIME: goes on while the machine sleeps. A job's
/// ttl is counted on it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize,
    Deserialize,
)]
pub struct BootMs(pub u64);

/// One reading of the three clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Wall time: ages of ids and signatures, and what people read.
    pub wall: Timestamp,
    /// Job time.
    pub mono: MonoMs,
    /// Time to live.
    pub boot: BootMs,
}

/// Where a task gets the time from. Read for real only in `node::clock`.
pub trait Clock: Send + Sync + 'static {
    /// The three clocks, now.
    fn now(&self) -> Now;
}
