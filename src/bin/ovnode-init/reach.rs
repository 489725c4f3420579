use crate::fault::Fault;
use rustix::process::{
    Pid, Signal, getpid, kill_process, kill_process_group, set_child_subreaper,
};
use std::fs;

/// Whom a signal reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// As PID 1: every other process of the namespace, in one sweep that no
    /// fork escapes.
    Sandbox,
    /// In a test: the job's process group, and what was orphaned to us.
    Family,
}

impl Reach {
    /// Makes the kernel hand orphans to this process, as it does for PID 1.
    pub(crate) fn adopt_orphans(self) -> Result<(), Fault> {
        match self {
            Self::Sandbox => Ok(()),
            Self::Family => set_child_subreaper(Some(getpid()))
                .map_err(Fault::kernel("adopt orphans")),
        }
    }

    /// Signals everyone within reach. That nobody is left to be signalled is
    /// no fault: the reaper knows who is there.
    pub(crate) fn signal(self, leader: Pid, signal: Signal) {
        match self {
            // The group of PID 1 is `kill(-1)`: all but PID 1 itself.
            Self::Sandbox => {
                kill_process_group(Pid::INIT, signal).ok();
            }
            Self::Family => {
                kill_process_group(leader, signal).ok();
                for child in children() {
                    kill_process(child, signal).ok();
                }
            }
        }
    }
}

/// The children of this process: the job, and the orphans.
fn children() -> Vec<Pid> {
    let me = getpid().as_raw_nonzero();
    let list = fs::read_to_string(format!("/proc/self/task/{me}/children"));
    list.unwrap_or_default()
        .split_ascii_whitespace()
        .filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
        .collect()
}
