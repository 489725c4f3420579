//! Every dead process is reaped at once, by a thread that only waits.
//!
//! A thread, because a signal handler would need unsafe code and a timer
//! would either wake an idle sandbox or let a job that orphans fast fill its
//! limit of pids with the dead.
use crate::clock::Moment;
use crate::fault::Fault;
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;

/// Knows who died.
pub(crate) struct Reaper {
    seen: Arc<Seen>,
}

struct Seen {
    bell: OwnedFd,
    leader: OnceLock<(WaitStatus, Moment)>,
    nobody: AtomicBool,
}

impl Reaper {
    /// Starts to reap. `leader` must have been forked before: with no child
    /// at all the work is done.
    pub(crate) fn start(leader: Pid) -> Result<Self, Fault> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let bell = eventfd(0, flags).map_err(Fault::kernel("make an event"))?;
        let seen = Arc::new(Seen {
            bell,
            leader: OnceLock::new(),
            nobody: AtomicBool::new(false),
        });
        let theirs = Arc::clone(&seen);
        thread::Builder::new()
            .name("reaper".to_owned())
            // It calls two functions: the least that a thread may have.
            .stack_size(64 * 1024)
            .spawn(move || reap(leader, &theirs))
            .map_err(Fault::kernel("start the reaper"))?;
        Ok(Self { seen })
    }

    /// Readable when there is news.
    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.seen.bell.as_fd()
    }

    /// Takes the news, so that the bell falls silent.
    pub(crate) fn answer(&self) {
        // Nothing to read is as good: the state is looked at anyway.
        rustix::io::read(&self.seen.bell, &mut [0; 8]).ok();
    }

    /// How and when the job's first process ended.
    pub(crate) fn leader(&self) -> Option<(WaitStatus, Moment)> {
        self.seen.leader.get().copied()
    }

    /// Whether no process is left.
    pub(crate) fn nobody_left(&self) -> bool {
        self.seen.nobody.load(Ordering::Acquire)
    }
}

impl Seen {
    fn ring(&self) {
        // It fails only when 2^64 news were not taken.
        rustix::io::write(&self.bell, &1_u64.to_ne_bytes()).ok();
    }
}

fn reap(leader: Pid, seen: &Seen) {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == leader => {
                // A pid that came back is somebody else's: the first counts.
                seen.leader.set((status, Moment::now())).ok();
                seen.ring();
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => break,
        }
    }
    seen.nobody.store(true, Ordering::Release);
    seen.ring();
}
