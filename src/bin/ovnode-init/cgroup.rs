//! What the kernel counted of the whole sandbox, read through the cgroup
//! mount inside it: version 1 and 2. What cannot be read is absent, never 0.
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The sandbox's own control group.
pub(crate) struct Cgroup {
    root: Option<PathBuf>,
}

impl Cgroup {
    pub(crate) fn at(root: Option<&Path>) -> Self {
        Self { root: root.map(Path::to_path_buf) }
    }

    /// CPU time used.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        // Version 1 mounts the counter alone or together with `cpu`.
        for file in ["cpuacct/cpuacct.usage", "cpu,cpuacct/cpuacct.usage"] {
            if let Some(text) = self.read(file) {
                return number(&text).map(Duration::from_nanos);
            }
        }
        let text = self.read("cpu.stat")?;
        field(&text, "usage_usec").map(Duration::from_micros)
    }

    /// The greatest memory used, in bytes.
    pub(crate) fn memory_peak(&self) -> Option<u64> {
        let v1 = self.read("memory/memory.max_usage_in_bytes");
        number(&v1.or_else(|| self.read("memory.peak"))?)
    }

    /// How many processes the kernel killed for want of memory.
    pub(crate) fn oom_kills(&self) -> Option<u64> {
        let v1 = self.read("memory/memory.oom_control");
        field(&v1.or_else(|| self.read("memory.events"))?, "oom_kill")
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.root.as_ref()?.join(file)).ok()
    }
}

fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// The number beside a name, one pair a line.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(' ')?;
        if key == name { number(value) } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(files: &[(&str, &str)]) -> (tempfile::TempDir, Cgroup) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let cgroup = Cgroup::at(Some(dir.path()));
        (dir, cgroup)
    }

    #[test]
    fn version_1_is_read() {
        let oom = "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n";
        let (_dir, cgroup) = with(&[
            ("cpu,cpuacct/cpuacct.usage", "1500000\n"),
            ("memory/memory.max_usage_in_bytes", "4096\n"),
            ("memory/memory.oom_control", oom),
        ]);
        assert_eq!(cgroup.cpu(), Some(Duration::from_micros(1500)));
        assert_eq!(cgroup.memory_peak(), Some(4096));
        assert_eq!(cgroup.oom_kills(), Some(2));
    }

    #[test]
    fn version_2_is_read() {
        let events = "low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\n";
        let (_dir, cgroup) = with(&[
            ("cpu.stat", "usage_usec 77\nuser_usec 70\nsystem_usec 7\n"),
            ("memory.peak", "8192\n"),
            ("memory.events", events),
        ]);
        assert_eq!(cgroup.cpu(), Some(Duration::from_micros(77)));
        assert_eq!(cgroup.memory_peak(), Some(8192));
        assert_eq!(cgroup.oom_kills(), Some(1));
    }

    #[test]
    fn what_is_not_there_is_absent() {
        let (_dir, cgroup) = with(&[("memory/memory.oom_control", "x\n")]);
        assert_eq!(cgroup.cpu(), None);
        assert_eq!(cgroup.memory_peak(), None);
        assert_eq!(cgroup.oom_kills(), None);
        assert_eq!(Cgroup::at(None).cpu(), None);
    }
}
