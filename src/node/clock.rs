use crate::contract::{BootMs, Clock, MonoMs, Now, Timestamp};
use rustix::time::{ClockId, Timespec, clock_gettime};

/// The machine's own three clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Now {
        Now {
            wall: Timestamp(millis(clock_gettime(ClockId::Realtime))),
            mono: MonoMs(millis(clock_gettime(ClockId::Monotonic))),
            boot: BootMs(millis(clock_gettime(ClockId::Boottime))),
        }
    }
}

/// A clock set before 1970 reads as 1970: then it is wrong in any case.
fn millis(at: Timespec) -> u64 {
    let seconds = u64::try_from(at.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(at.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1000).saturating_add(nanos / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_clock_runs_backwards_and_boot_time_counts_sleep_too() {
        let (first, second) = (SystemClock.now(), SystemClock.now());
        assert!(second.mono >= first.mono);
        assert!(second.boot >= first.boot);
        assert!(second.boot.0 >= first.mono.0);
    }
}
