use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io;
use std::os::fd::OwnedFd;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Sees the end of one process, whatever the engine says or does not say.
///
/// For PID 1 of a sandbox that is the end of all its processes: the kernel
/// kills and reaps the whole namespace before its first process is dead.
#[derive(Debug)]
pub(crate) struct PidWatch {
    process: AsyncFd<OwnedFd>,
}

impl PidWatch {
    /// Watches the process of that id, which must be known to live now.
    pub(crate) fn of(pid: u32) -> io::Result<Self> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or(io::ErrorKind::InvalidInput)?;
        let process = pidfd_open(pid, PidfdFlags::NONBLOCK)?;
        #[expect(
            deprecated,
            reason = "unsound only of types that change their descriptor, \
                      which an OwnedFd cannot; what replaces it is unsafe"
        )]
        let process = AsyncFd::with_interest(process, Interest::READABLE)?;
        Ok(Self { process })
    }

    /// Waits for its end; at once if it is over. Cancel-safe.
    pub(crate) async fn dead(&self) {
        // An error could only say that the runtime ends, and us with it.
        if self.process.readable().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[tokio::test]
    async fn the_end_of_a_process_is_seen_and_stays_seen() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let watch = PidWatch::of(child.id()).unwrap();
        let early = tokio::time::timeout(
            std::time::Duration::from_millis(20),
            watch.dead(),
        );
        assert!(early.await.is_err());
        child.kill().unwrap();
        watch.dead().await;
        watch.dead().await;
        child.wait().unwrap();
    }
}
