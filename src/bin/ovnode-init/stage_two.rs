//! Stage two: the job's side before it is the job. It has the job's user
//! already and must prove that nothing else is left; it bounds itself, makes
//! the job's pipes, and executes the job.
//!
//! The pipes are made here and not in PID 1, so that they belong to the job's
//! user: `/dev/stdout` can be opened by its name, and their memory counts
//! against that user alone.
use crate::launch::{EXECUTING, REASON_BYTES};
use crate::stream::READ_BYTES;
use crate::{descriptor, privilege, program};
use command_fds::{CommandFdExt, FdMapping};
use ovnode::init::Orders;
use rustix::fs::Mode;
use rustix::net::{
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, send, sendmsg,
};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, setsid, umask};
use std::fs;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// The job's result goes to this descriptor.
const RESULT_FD: i32 = 3;
/// Descriptors below are the job's. The status socket has to keep out of
/// their way until the exec closes it.
const ABOVE_JOBS: i32 = 10;
/// When memory runs out, the job is the first to go, PID 1 the last: it has
/// to tell what happened.
const OOM_SCORE: &str = "1000";

/// Becomes the job, or says why not.
pub(crate) fn run() -> ExitCode {
    // PID 1 put the status socket where stdout is, since the standard
    // descriptors are the only ones that can be taken up safely by number.
    let stdout = rustix::stdio::stdout();
    let Ok(status) = rustix::io::fcntl_dupfd_cloexec(stdout, ABOVE_JOBS) else {
        return ExitCode::FAILURE;
    };
    let Err(reason) = become_job(&status);
    let mut reason = reason.into_bytes();
    reason.truncate(REASON_BYTES);
    // If PID 1 does not hear it, it sees the socket close without a word.
    send(&status, &reason, SendFlags::NOSIGNAL).ok();
    ExitCode::FAILURE
}

enum Never {}

fn become_job(status: &OwnedFd) -> Result<Never, String> {
    let proc = fs::read_to_string("/proc/self/status")
        .map_err(|err| format!("cannot see its own privileges: {err}"))?;
    privilege::prove_none(&proc)?;
    descriptor::prove_none_leaks()?;
    let orders: Orders = serde_json::from_reader(io::stdin().lock())
        .map_err(|err| format!("cannot take the orders: {err}"))?;
    bound(&orders)?;
    std::env::set_current_dir(&orders.cwd)
        .map_err(|err| format!("cannot enter `{}`: {err}", orders.cwd))?;
    let path = orders.env.get("PATH").map(String::as_str);
    let name = orders.argv.first().ok_or("there is no program to run")?;
    let file = program::find(name, path)?;
    let ends = hand_over(status)
        .map_err(|err| format!("cannot make the job's pipes: {err}"))?;
    let mut job = Command::new(&file);
    job.arg0(name)
        .args(&orders.argv[1..])
        .env_clear()
        .envs(&orders.env)
        .stdin(ends.stdin)
        .stdout(ends.stdout)
        .stderr(ends.stderr)
        .fd_mappings(vec![FdMapping {
            parent_fd: ends.result,
            child_fd: RESULT_FD,
        }])
        .map_err(|err| err.to_string())?;
    // This also empties the signal mask and gives SIGPIPE back its default;
    // the other dispositions are the defaults already.
    Err(program::explain(&file, &job.exec()))
}

/// Sets every bound that a process sets for itself and its children.
fn bound(orders: &Orders) -> Result<(), String> {
    setsid().map_err(|err| format!("cannot begin a session: {err}"))?;
    umask(Mode::WGRP | Mode::WOTH);
    for (resource, most) in [
        (Resource::Nofile, orders.open_files),
        (Resource::Fsize, orders.file_bytes),
        (Resource::Memlock, 0),
        (Resource::Msgqueue, 0),
        (Resource::Nice, 0),
        (Resource::Rtprio, 0),
    ] {
        lower(resource, most)
            .map_err(|err| format!("cannot lower {resource:?}: {err}"))?;
    }
    // The engine has set this one already, and a seccomp profile may forbid
    // to touch it: a job must not raise it where the engine would let it.
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    setrlimit(Resource::Core, none).ok();
    fs::write("/proc/self/oom_score_adj", OOM_SCORE)
        .map_err(|err| format!("cannot raise its OOM score: {err}"))
}

fn lower(resource: Resource, most: u64) -> rustix::io::Result<()> {
    let hard = getrlimit(resource).maximum;
    let most = Some(hard.map_or(most, |hard| hard.min(most)));
    setrlimit(resource, Rlimit { current: most, maximum: most })
}

/// The job's ends of its pipes.
struct Ends {
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
    result: OwnedFd,
}

/// Makes the pipes, gives PID 1 its ends and keeps the job's.
fn hand_over(status: &OwnedFd) -> io::Result<Ends> {
    let pipe = || pipe_with(PipeFlags::CLOEXEC);
    let (stdin, to_stdin) = pipe()?;
    let (from_stdout, stdout) = pipe()?;
    let (from_stderr, stderr) = pipe()?;
    let (from_result, result) = pipe()?;
    for wide in [&stdout, &stderr] {
        // A user's pipes share a budget; a smaller one works as well.
        fcntl_setpipe_size(wide, READ_BYTES).ok();
    }
    let fds = [
        to_stdin.as_fd(),
        from_stdout.as_fd(),
        from_stderr.as_fd(),
        from_result.as_fd(),
    ];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(&fds)) {
        return Err(io::Error::other("the message has no room for them"));
    }
    let word = [IoSlice::new(EXECUTING)];
    sendmsg(status, &word, &mut control, SendFlags::NOSIGNAL)?;
    Ok(Ends { stdin, stdout, stderr, result })
}
