use crate::clock;
use crate::fault::Fault;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// What can wake the supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Daemon,
    Launch,
    Stdin,
    Job(Outlet),
    Ttl,
    Reaper,
}

/// Where a job writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outlet {
    Stdout,
    Stderr,
    Result,
}

/// One thing to wait for.
pub(crate) type Wish<'a> = (Source, BorrowedFd<'a>, PollFlags);

/// Waits until a source is ready or `due` (CLOCK_MONOTONIC) has come, and
/// names those that are ready in the order they were wished for.
pub(crate) fn wait(
    wishes: &[Wish<'_>],
    due: Option<Duration>,
) -> Result<Vec<Source>, Fault> {
    let mut fds: Vec<PollFd<'_>> = wishes
        .iter()
        .map(|(_, fd, flags)| PollFd::from_borrowed_fd(*fd, *flags))
        .collect();
    // A time too far for the kernel is as good as none.
    let timeout = due
        .map(|due| due.saturating_sub(clock::mono()))
        .and_then(|left| Timespec::try_from(left).ok());
    match poll(&mut fds, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(err) => return Err(Fault::Kernel("wait", err.into())),
    }
    let ready = wishes.iter().zip(&fds);
    let ready = ready.filter(|(_, fd)| !fd.revents().is_empty());
    Ok(ready.map(|((source, ..), _)| *source).collect())
}
