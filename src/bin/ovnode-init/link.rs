//! The socket to the daemon. It never blocks: a daemon that is slow, stuck or
//! gone costs the job nothing.
use crate::poll::{Source, Wish};
use ovnode::init::{FromInit, MAX_LINE_BYTES, ToInit};
use rustix::event::PollFlags;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect,
    socket_with,
};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Between tries until the daemon was reached once: it waits for us too.
const EAGER: Duration = Duration::from_millis(100);
/// Between tries once it was lost: it has to be started again first.
const PATIENT: Duration = Duration::from_secs(1);
/// One read takes this much at most.
const READ_BYTES: usize = 64 * 1024;

/// What came from the daemon: an order, or why a line was none.
pub(crate) type Heard = Result<ToInit, String>;

pub(crate) struct Link {
    path: PathBuf,
    stream: Option<UnixStream>,
    inbox: Vec<u8>,
    /// So far no line ends in the inbox.
    searched: usize,
    /// Bounded by what is said: a few words a connection, and output only
    /// once all before it is gone.
    outbox: Vec<u8>,
    try_at: Duration,
    pause: Duration,
}

impl Link {
    pub(crate) fn to(path: &Path, now: Duration) -> Self {
        Self {
            path: path.to_path_buf(),
            stream: None,
            inbox: Vec::new(),
            searched: 0,
            outbox: Vec::new(),
            try_at: now,
            pause: EAGER,
        }
    }

    /// When to try to connect, where there is no connection.
    pub(crate) const fn due(&self) -> Option<Duration> {
        match self.stream {
            Some(_) => None,
            None => Some(self.try_at),
        }
    }

    /// What to wait for, where there is a connection.
    pub(crate) fn wish(&self) -> Option<Wish<'_>> {
        let stream = self.stream.as_ref()?;
        let flags = if self.outbox.is_empty() {
            PollFlags::IN
        } else {
            PollFlags::IN | PollFlags::OUT
        };
        Some((Source::Daemon, stream.as_fd(), flags))
    }

    /// Tries to connect where it is time to; whether there is a *new*
    /// connection, on which nothing was said yet.
    pub(crate) fn tick(&mut self, now: Duration) -> bool {
        if self.stream.is_some() || now < self.try_at {
            return false;
        }
        self.try_at = now.saturating_add(self.pause);
        match dial(&self.path) {
            Ok(stream) => {
                self.stream = Some(stream);
                self.pause = PATIENT;
                true
            }
            Err(_) => false,
        }
    }

    /// Whether there is a connection and all that was said is on its way.
    pub(crate) fn is_clear(&self) -> bool {
        self.stream.is_some() && self.outbox.is_empty()
    }

    /// Whether something said is still to be sent.
    pub(crate) fn is_busy(&self) -> bool {
        self.stream.is_some() && !self.outbox.is_empty()
    }

    /// Says a word, where somebody is there to hear it.
    pub(crate) fn say(&mut self, word: &FromInit) {
        if self.stream.is_none() {
            return;
        }
        match serde_json::to_writer(&mut self.outbox, word) {
            Ok(()) => self.outbox.push(b'\n'),
            Err(_) => self.lose(),
        }
        self.flush();
    }

    /// Sends as much as the daemon takes now.
    pub(crate) fn flush(&mut self) {
        while let Some(stream) = &mut self.stream
            && !self.outbox.is_empty()
        {
            match stream.write(&self.outbox) {
                Ok(sent) => drop(self.outbox.drain(..sent)),
                Err(err) if err.kind() == ErrorKind::Interrupted => {}
                Err(err) if err.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.lose(),
            }
        }
    }

    /// Takes what has come.
    pub(crate) fn hear(&mut self) -> Vec<Heard> {
        let gone = self.fill().unwrap_or(true);
        let mut heard = self.lines();
        if self.inbox.len() > MAX_LINE_BYTES {
            heard.push(Err(format!(
                "a line is longer than {MAX_LINE_BYTES} bytes"
            )));
            self.lose();
        }
        if gone {
            self.lose();
        }
        heard
    }

    /// Reads until nothing is there, or more than any line; whether the
    /// daemon is gone.
    fn fill(&mut self) -> io::Result<bool> {
        let Some(stream) = &mut self.stream else { return Ok(false) };
        let mut part = vec![0; READ_BYTES];
        while self.inbox.len() <= MAX_LINE_BYTES {
            match stream.read(&mut part) {
                Ok(0) => return Ok(true),
                Ok(read) => self.inbox.extend_from_slice(&part[..read]),
                Err(err) if err.kind() == ErrorKind::Interrupted => {}
                Err(err) if err.kind() == ErrorKind::WouldBlock => break,
                Err(err) => return Err(err),
            }
        }
        Ok(false)
    }

    fn lines(&mut self) -> Vec<Heard> {
        let mut heard = Vec::new();
        let mut done = 0;
        while let Some(found) =
            self.inbox[self.searched..].iter().position(|&b| b == b'\n')
        {
            let line = &self.inbox[done..self.searched + found];
            heard.push(
                serde_json::from_slice(line).map_err(|err| {
                    format!("an order could not be read: {err}")
                }),
            );
            done = self.searched + found + 1;
            self.searched = done;
        }
        self.inbox.drain(..done);
        self.searched = self.inbox.len();
        heard
    }

    fn lose(&mut self) {
        self.stream = None;
        self.inbox.clear();
        self.searched = 0;
        self.outbox.clear();
    }
}

/// Connects without waiting: a daemon whose queue is full is tried again.
fn dial(path: &Path) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket =
        socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ovnode::init::Phase;
    use std::os::unix::net::UnixListener;

    const NOW: Duration = Duration::from_secs(5);

    fn pair() -> (tempfile::TempDir, UnixListener, Link) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let link = Link::to(&path, NOW);
        (dir, listener, link)
    }

    #[test]
    fn a_daemon_is_tried_again_and_said_to_be_new_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let mut link = Link::to(&path, NOW);
        assert!(!link.tick(NOW));
        let next = link.due().unwrap();
        assert_eq!(next, NOW + EAGER);
        let listener = UnixListener::bind(&path).unwrap();
        assert!(!link.tick(NOW), "it is not time yet");
        assert!(link.tick(next));
        assert!(!link.tick(next));
        assert_eq!(link.due(), None);
        drop(listener.accept().unwrap());
        assert_eq!(link.hear(), []);
        assert_eq!(link.due(), Some(next + EAGER));
    }

    #[test]
    fn lines_are_heard_whole_however_they_arrive() {
        let (_dir, listener, mut link) = pair();
        assert!(link.tick(NOW));
        let (mut daemon, _) = listener.accept().unwrap();
        daemon.write_all(b"{\"cancel\":{\"gra").unwrap();
        assert_eq!(link.hear(), []);
        daemon.write_all(b"ce_ms\":7}}\nnonsense\n{\"ca").unwrap();
        let heard = link.hear();
        assert_eq!(heard[0], Ok(ToInit::Cancel { grace_ms: 7 }));
        assert!(heard[1].is_err());
        assert_eq!(heard.len(), 2);
        daemon.write_all(b"ncel\":{\"grace_ms\":8}}\n").unwrap();
        assert_eq!(link.hear(), [Ok(ToInit::Cancel { grace_ms: 8 })]);
    }

    #[test]
    fn a_daemon_that_does_not_read_blocks_nobody() {
        let (_dir, listener, mut link) = pair();
        assert!(link.tick(NOW));
        let (daemon, _) = listener.accept().unwrap();
        while link.is_clear() {
            link.say(&FromInit::Ready { phase: Phase::Waiting });
        }
        assert!(link.is_busy());
        drop(daemon);
        link.flush();
        assert!(!link.is_busy());
    }
}
