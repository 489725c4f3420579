//! Stage one: from orders to a process that is about to become the job.
//!
//! PID 1 forks itself with the job's user and group set before the exec; that
//! second stage (see `stage_two`) makes the job's pipes, as their owner, and
//! hands PID 1 its ends over a socket that closes when the job is executed.
use crate::place::STAGE_TWO;
use ovnode::init::Orders;
use rustix::fs::{MemfdFlags, OFlags, fcntl_setfl, memfd_create};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags,
    SocketFlags, SocketType, recvmsg, socketpair,
};
use rustix::process::Pid;
use std::fs::File;
use std::io::{self, IoSliceMut, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// What stage two says with the pipes, right before it executes the job.
pub(crate) const EXECUTING: &[u8] = b"executing";
/// The longest reason that stage two gives for not having executed it.
pub(crate) const REASON_BYTES: usize = 4096;

/// PID 1's ends of the job's pipes.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    pub(crate) result: OwnedFd,
}

/// A process that is on its way to become the job.
pub(crate) struct Launch {
    leader: Pid,
    status: OwnedFd,
    pipes: Option<Pipes>,
}

/// How far a launch is.
#[derive(Debug)]
pub(crate) enum Progress {
    Pending,
    Started(Pipes),
    Failed(String),
}

impl Launch {
    /// Forks stage two.
    pub(crate) fn fork(orders: &Orders) -> Result<Self, String> {
        check(orders)?;
        let plan = plan(orders)
            .map_err(|err| format!("cannot hand the orders on: {err}"))?;
        let (status, theirs) = socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(|err| format!("cannot make a socket: {err}"))?;
        // Not by its path: the image may hold another file there, and the
        // job's user need not be able to walk to it.
        let child = Command::new("/proc/self/exe")
            .arg(STAGE_TWO)
            .env_clear()
            .uid(orders.uid)
            .gid(orders.gid)
            .stdin(Stdio::from(plan))
            .stdout(Stdio::from(theirs))
            .spawn()
            .map_err(|err| format!("cannot fork the job's side: {err}"))?;
        let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let leader = leader.ok_or("the job's side has no pid")?;
        Ok(Self { leader, status, pipes: None })
    }

    /// The process that is, or will be, the job.
    pub(crate) const fn leader(&self) -> Pid {
        self.leader
    }

    /// Readable when there is progress.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.status.as_fd()
    }

    /// Takes what stage two has said, without waiting.
    pub(crate) fn progress(&mut self) -> Progress {
        loop {
            match self.receive() {
                Ok(Word::Executing(pipes)) => self.pipes = Some(pipes),
                Ok(Word::Refused(reason)) => return Progress::Failed(reason),
                Ok(Word::Closed) => return self.closed(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Progress::Pending,
                Err(err) => {
                    let why = format!("cannot hear the job's side: {err}");
                    return Progress::Failed(why);
                }
            }
        }
    }

    /// The socket closed: by the exec if stage two had come to it, else by
    /// its death.
    fn closed(&mut self) -> Progress {
        match self.pipes.take() {
            Some(pipes) => Progress::Started(pipes),
            None => Progress::Failed(
                "the job's side died before it could execute it".to_owned(),
            ),
        }
    }

    fn receive(&self) -> rustix::io::Result<Word> {
        let mut bytes = [0; REASON_BYTES];
        let mut space =
            [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let read = recvmsg(
            &self.status,
            &mut [IoSliceMut::new(&mut bytes)],
            &mut control,
            RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT,
        )?;
        let said = &bytes[..read.bytes.min(REASON_BYTES)];
        match (said, received(&mut control)) {
            (b"", _) => Ok(Word::Closed),
            (EXECUTING, Some(pipes)) => {
                pipes.never_block()?;
                Ok(Word::Executing(pipes))
            }
            (reason, _) => {
                Ok(Word::Refused(String::from_utf8_lossy(reason).into_owned()))
            }
        }
    }
}

/// What stage two can say.
enum Word {
    Executing(Pipes),
    Refused(String),
    Closed,
}

impl Pipes {
    fn never_block(&self) -> rustix::io::Result<()> {
        for fd in [&self.stdin, &self.stdout, &self.stderr, &self.result] {
            fcntl_setfl(fd, OFlags::NONBLOCK)?;
        }
        Ok(())
    }
}

/// The pipes that came along, in the order that stage two sends them.
fn received(control: &mut RecvAncillaryBuffer<'_>) -> Option<Pipes> {
    let first = control.drain().next()?;
    let RecvAncillaryMessage::ScmRights(mut fds) = first else {
        return None;
    };
    Some(Pipes {
        stdin: fds.next()?,
        stdout: fds.next()?,
        stderr: fds.next()?,
        result: fds.next()?,
    })
}

/// What is wrong with orders before anything was tried.
fn check(orders: &Orders) -> Result<(), String> {
    if orders.argv.is_empty() {
        return Err("the orders name no program".to_owned());
    }
    if orders.uid == 0 || orders.gid == 0 {
        return Err("the orders would run the job as root".to_owned());
    }
    Ok(())
}

/// The orders as a file in memory: however long they are, handing them on
/// never waits for stage two.
fn plan(orders: &Orders) -> io::Result<File> {
    let mut file: File = memfd_create("orders", MemfdFlags::CLOEXEC)?.into();
    // What goes to stdin is PID 1's to write.
    let orders = Orders { stdin: String::new(), ..orders.clone() };
    file.write_all(&serde_json::to_vec(&orders)?)?;
    file.rewind()?;
    Ok(file)
}
