use crate::fault::Fault;
use crate::launch::Pipes;
use crate::poll::{Outlet, Source, Wish};
use crate::sinks::Sinks;
use crate::stream::{Pumped, Stream};
use rustix::event::PollFlags;
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};

/// At the end every writer is dead and a pipe holds what fits into it. Should
/// one have survived, it does not keep PID 1 for ever: this many reads take
/// more than the largest pipe holds.
const LAST_READS: usize = 64;

/// What goes in and out of a job while it runs.
#[derive(Default)]
pub(crate) struct Flow {
    feed: Option<Feed>,
    stdout: Option<Stream>,
    stderr: Option<Stream>,
    result: Option<Stream>,
    scratch: Vec<u8>,
}

/// What is still to be written to a job's stdin.
struct Feed {
    pipe: OwnedFd,
    bytes: Vec<u8>,
    done: usize,
}

impl Flow {
    pub(crate) fn new(pipes: Pipes, stdin: String) -> Self {
        let mut flow = Self {
            feed: Some(Feed {
                pipe: pipes.stdin,
                bytes: stdin.into_bytes(),
                done: 0,
            }),
            stdout: Some(Stream::new(pipes.stdout)),
            stderr: Some(Stream::new(pipes.stderr)),
            result: Some(Stream::new(pipes.result)),
            scratch: Vec::new(),
        };
        // Most fit into the pipe at once, and an empty one must be closed.
        flow.feed();
        flow
    }

    /// What to wait for.
    pub(crate) fn wishes(&self) -> impl Iterator<Item = Wish<'_>> {
        let stdin = self.feed.as_ref();
        let stdin =
            stdin.map(|f| (Source::Stdin, f.pipe.as_fd(), PollFlags::OUT));
        let outlets = [
            (Outlet::Stdout, &self.stdout),
            (Outlet::Stderr, &self.stderr),
            (Outlet::Result, &self.result),
        ];
        let outlets = outlets.into_iter().filter_map(|(outlet, stream)| {
            let fd = stream.as_ref()?.fd();
            Some((Source::Job(outlet), fd, PollFlags::IN))
        });
        stdin.into_iter().chain(outlets)
    }

    /// Writes to stdin what it takes now, and closes it after the last byte
    /// or when the job does not want more.
    pub(crate) fn feed(&mut self) {
        while let Some(feed) = &mut self.feed {
            let left = &feed.bytes[feed.done..];
            if left.is_empty() {
                self.feed = None;
                return;
            }
            match rustix::io::write(&feed.pipe, left) {
                Ok(written) => feed.done += written,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.feed = None,
            }
        }
    }

    /// Takes once what came out of an outlet.
    pub(crate) fn pump(
        &mut self,
        outlet: Outlet,
        sinks: &mut Sinks,
    ) -> Result<Pumped, Fault> {
        let stream = match outlet {
            Outlet::Stdout => &mut self.stdout,
            Outlet::Stderr => &mut self.stderr,
            Outlet::Result => &mut self.result,
        };
        let Some(open) = stream else { return Ok(Pumped::Ended) };
        let pumped = open.pump(&mut self.scratch);
        sinks.take(outlet, &self.scratch)?;
        if pumped == Pumped::Ended {
            *stream = None;
        }
        Ok(pumped)
    }

    /// Takes all that is left, once the writers are gone.
    pub(crate) fn drain(&mut self, sinks: &mut Sinks) -> Result<(), Fault> {
        for outlet in [Outlet::Stdout, Outlet::Stderr, Outlet::Result] {
            for _ in 0..LAST_READS {
                if self.pump(outlet, sinks)? != Pumped::Some {
                    break;
                }
            }
        }
        Ok(())
    }
}
