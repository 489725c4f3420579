use super::place::Places;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where a figure lies in either version.
pub(super) struct Figure {
    pub(super) controller: &'static str,
    pub(super) v1: &'static str,
    pub(super) v2: &'static str,
}

pub(super) const CPU: Figure =
    Figure { controller: "cpuacct", v1: "cpuacct.usage", v2: "cpu.stat" };
pub(super) const MEMORY_PEAK: Figure = Figure {
    controller: "memory",
    v1: "memory.max_usage_in_bytes",
    v2: "memory.peak",
};
pub(super) const OOM_KILLS: Figure = Figure {
    controller: "memory",
    v1: "memory.oom_control",
    v2: "memory.events",
};

/// A file's text, and whether it is v2's.
pub(super) fn figure(places: &Places, of: &Figure) -> Option<(String, bool)> {
    if let Some(directory) = places.get(of.controller) {
        let text = std::fs::read_to_string(directory.join(of.v1)).ok()?;
        return Some((text, false));
    }
    let text = std::fs::read_to_string(places.get("")?.join(of.v2)).ok()?;
    Some((text, true))
}

/// Nanoseconds in v1; the line `usage_usec` in v2.
pub(super) fn cpu((text, v2): (String, bool)) -> Option<Duration> {
    if v2 {
        field(&text, "usage_usec").map(Duration::from_micros)
    } else {
        text.trim().parse().ok().map(Duration::from_nanos)
    }
}

/// The line `oom_kill`, in either version (since kernel 4.13).
pub(super) fn oom_kills((text, _): (String, bool)) -> Option<u64> {
    field(&text, "oom_kill")
}

pub(super) fn whole((text, _): (String, bool)) -> Option<u64> {
    text.trim().parse().ok()
}

fn field(text: &str, name: &str) -> Option<u64> {
    let fields = text.lines().filter_map(|line| line.split_once(' '));
    let mut values = fields.filter(|(key, _)| *key == name);
    values.next().and_then(|(_, value)| value.trim().parse().ok())
}

/// The controllers whose trees hold a sandbox's processes, the surest first:
/// any of them has all. v2's tree of a hybrid host has them too, but is not
/// always the engine's to place them in.
pub(super) fn tree(places: &Places) -> Option<&PathBuf> {
    ["pids", "memory", "freezer", ""]
        .iter()
        .find_map(|controller| places.get(*controller))
}

/// Processes of a cgroup and of those below it. One that is gone has none.
pub(super) fn processes(directory: &Path) -> io::Result<Vec<u32>> {
    let text = match std::fs::read_to_string(directory.join("cgroup.procs")) {
        Ok(text) => text,
        Err(gone) if is_gone(&gone) => return Ok(Vec::new()),
        Err(fault) => return Err(fault),
    };
    let mut found: Vec<u32> =
        text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(gone) if is_gone(&gone) => return Ok(found),
        Err(fault) => return Err(fault),
    };
    for entry in entries.filter_map(Result::ok) {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(processes(&entry.path())?);
        }
    }
    Ok(found)
}

/// A cgroup that is removed while it is open says `ENODEV`.
pub(super) fn is_gone(fault: &io::Error) -> bool {
    fault.kind() == io::ErrorKind::NotFound
        || fault.raw_os_error() == Some(rustix::io::Errno::NODEV.raw_os_error())
}
