use crate::fault::Fault;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec,
    timerfd_create, timerfd_settime,
};
use std::os::fd::OwnedFd;
use std::time::Duration;

/// An alarm at a time of CLOCK_BOOTTIME; none if it is too far to be set.
///
/// A timer of its own, since the time-out of a wait stands still while the
/// machine sleeps and this clock does not: it rings right after the waking.
pub(crate) fn alarm(boot_ms: u64) -> Result<Option<OwnedFd>, Fault> {
    let Ok(at) = Timespec::try_from(Duration::from_millis(boot_ms)) else {
        return Ok(None);
    };
    let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
    let alarm = timerfd_create(
        TimerfdClockId::Boottime,
        TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK,
    )
    .map_err(Fault::kernel("make a timer"))?;
    timerfd_settime(
        &alarm,
        TimerfdTimerFlags::ABSTIME,
        &Itimerspec { it_interval: zero, it_value: at },
    )
    .map_err(Fault::kernel("set a timer"))?;
    Ok(Some(alarm))
}
