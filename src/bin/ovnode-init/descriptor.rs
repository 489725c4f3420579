//! No descriptor but its own four reaches a job.
//!
//! PID 1 opens all it opens so that an exec closes it. What a runtime left
//! open by mistake is another matter: a folder of the host, say, would be a
//! way out of the sandbox. It cannot be closed here without unsafe code, so
//! the job is not executed.
use rustix::fs::OFlags;
use std::fs;
use std::io;

/// Refuses if the next exec would hand on more than the standard three.
pub(crate) fn prove_none_leaks() -> Result<(), String> {
    let leaks = leaks()
        .map_err(|err| format!("cannot see its own descriptors: {err}"))?;
    match leaks.first() {
        None => Ok(()),
        Some(leak) => Err(format!("descriptor {leak} would reach the job")),
    }
}

fn leaks() -> io::Result<Vec<String>> {
    let mut leaks = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if ["0", "1", "2"].contains(&name.as_str()) {
            continue;
        }
        let info = fs::read_to_string(format!("/proc/self/fdinfo/{name}"))?;
        if !closes_on_exec(&info) {
            let target = fs::read_link(format!("/proc/self/fd/{name}"))?;
            leaks.push(format!("{name} ({})", target.display()));
        }
    }
    Ok(leaks)
}

/// Whether the kernel says so of a descriptor (`/proc/self/fdinfo`).
fn closes_on_exec(info: &str) -> bool {
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|f| u32::from_str_radix(f.trim(), 8).ok());
    flags.is_some_and(|flags| flags & OFlags::CLOEXEC.bits() != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_seen_to_close_closes() {
        assert!(closes_on_exec("pos:\t0\nflags:\t02100000\nmnt_id:\t1\n"));
        assert!(!closes_on_exec("pos:\t0\nflags:\t0100000\nmnt_id:\t1\n"));
        assert!(!closes_on_exec("pos:\t0\n"));
        assert!(!closes_on_exec("flags:\tx\n"));
    }
}
