use super::place::{CgroupMount, Places, places};
use super::read::{
    CPU, MEMORY_PEAK, OOM_KILLS, cpu, figure, is_gone, oom_kills, processes,
    tree, whole,
};
use crate::contract::Bytes;
use crate::engine::{ContainerId, EngineError};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The cgroup of one sandbox. Found once, while its PID 1 lives; it stays the
/// same directory for as long as it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup {
    proc: PathBuf,
    owner: String,
    places: Places,
}

/// What a sandbox has used. What could not be read is absent, never 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CgroupUsage {
    /// CPU time of all that ever ran in it.
    pub cpu: Option<Duration>,
    /// The most memory that it held at once.
    pub memory_peak: Option<Bytes>,
    /// Processes that the kernel killed for want of memory.
    pub oom_kills: Option<u64>,
    /// Processes in it now; 0 once the kernel has removed it.
    pub processes: Option<u64>,
}

/// Each round kills what it finds; a fork bomb needs a few, since what was
/// forked meanwhile is found in the next.
const ROUNDS: u32 = 50;

impl Cgroup {
    /// The cgroup of the process `pid` of the container `id`.
    ///
    /// # Errors
    ///
    /// [`EngineError::Host`] if the process is gone, or is not of that
    /// container (any more): its cgroup is nothing of ours then.
    pub fn of(pid: u32, id: &ContainerId) -> Result<Self, EngineError> {
        Self::below(Path::new("/proc"), pid, id)
    }

    /// The same, of another root: what tests lay out.
    pub(super) fn below(
        proc: &Path,
        pid: u32,
        id: &ContainerId,
    ) -> Result<Self, EngineError> {
        let read = |path: PathBuf| {
            std::fs::read_to_string(&path)
                .map_err(|source| host("read", &path, source))
        };
        let file = proc.join(pid.to_string()).join("cgroup");
        let mounts = CgroupMount::parse(&read(proc.join("self/mountinfo"))?);
        let places = places(&read(file.clone())?, &mounts, &id.0);
        if tree(&places).is_none() {
            let strange = io::Error::other("no cgroup of that container");
            return Err(host("find the sandbox in", &file, strange));
        }
        Ok(Self { proc: proc.to_path_buf(), owner: id.0.clone(), places })
    }

    /// What it has used so far.
    pub fn usage(&self) -> CgroupUsage {
        let figure = |of| figure(&self.places, of);
        CgroupUsage {
            cpu: figure(&CPU).and_then(cpu),
            memory_peak: figure(&MEMORY_PEAK).and_then(whole).map(Bytes),
            oom_kills: figure(&OOM_KILLS).and_then(oom_kills),
            processes: self
                .processes()
                .ok()
                .and_then(|found| u64::try_from(found.len()).ok()),
        }
    }

    /// Takes its CPU limit away, so that what must end can: a throttled
    /// process does not even die.
    ///
    /// # Errors
    ///
    /// [`EngineError::Host`] if the kernel refuses; a cgroup that is gone
    /// needs none.
    pub fn lift_quota(&self) -> Result<(), EngineError> {
        let (file, none) = match (self.places.get("cpu"), self.places.get("")) {
            (Some(v1), _) => (v1.join("cpu.cfs_quota_us"), "-1"),
            (None, Some(v2)) => (v2.join("cpu.max"), "max"),
            (None, None) => return Ok(()),
        };
        match std::fs::write(&file, none) {
            Err(fault) if !is_gone(&fault) => Err(host("write", &file, fault)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// KILL to every process in it, until none is left or some will not die.
    /// Blocks for the time of the kernel's own work only, with no waiting:
    /// [`Self::usage`] says later whether it is empty.
    ///
    /// # Errors
    ///
    /// [`EngineError::Host`] if its processes cannot be read or killed.
    pub fn kill_all(&self) -> Result<(), EngineError> {
        if self.kill_at_once() {
            return Ok(());
        }
        let mut before = Vec::new();
        for _ in 0..ROUNDS {
            let found =
                self.processes().map_err(|source| self.unreadable(source))?;
            // All of these were sent KILL: the rest is the kernel's.
            if found.iter().all(|pid| before.contains(pid)) {
                return Ok(());
            }
            for pid in &found {
                self.kill(*pid)?;
            }
            before = found;
        }
        Ok(())
    }

    /// The kernel's own switch, on v2 since 5.14: no fork escapes it.
    fn kill_at_once(&self) -> bool {
        let v2_only = self.places.len() == 1;
        let switch = self.places.get("").filter(|_| v2_only);
        switch.is_some_and(|directory| {
            std::fs::write(directory.join("cgroup.kill"), "1").is_ok()
        })
    }

    /// A process id may be another's by the time it is used. So the process
    /// is held first, then looked at once more, and only then killed.
    fn kill(&self, pid: u32) -> Result<(), EngineError> {
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let Some(number) = number else { return Ok(()) };
        let Ok(held) = pidfd_open(number, PidfdFlags::empty()) else {
            return Ok(()); // gone already
        };
        let file = self.proc.join(pid.to_string()).join("cgroup");
        let still = std::fs::read_to_string(&file)
            .is_ok_and(|cgroup| cgroup.contains(&self.owner));
        if !still {
            return Ok(());
        }
        match pidfd_send_signal(&held, Signal::KILL) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(fault) => Err(host("kill the process of", &file, fault.into())),
        }
    }

    fn processes(&self) -> io::Result<Vec<u32>> {
        tree(&self.places).map_or(Ok(Vec::new()), |place| processes(place))
    }

    fn unreadable(&self, source: io::Error) -> EngineError {
        let place = tree(&self.places).cloned().unwrap_or_default();
        host("list the processes of", &place, source)
    }
}

fn host(doing: &'static str, path: &Path, source: io::Error) -> EngineError {
    EngineError::Host { doing, path: path.to_path_buf(), source }
}
