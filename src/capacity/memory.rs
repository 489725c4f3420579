use super::CapacityConfig;
use super::cgroup::{MemoryBound, memory_bounds, memory_used, ways};
use super::cpu::LIMITS_MS;
use super::reading::Reading;
use super::root::Root;
use super::{CapacityError, MemorySample};
use crate::contract::{Bytes, MonoMs, Now};

/// Memory.
#[derive(Debug)]
pub(super) struct MemorySampler {
    root: Root,
    jobs_at: Option<String>,
    limits: Option<(MonoMs, Limits)>,
}

#[derive(Clone, Debug, Default)]
struct Limits {
    bounds: Vec<MemoryBound>,
    note: Option<String>,
}

impl MemorySampler {
    pub(super) fn new(config: &CapacityConfig) -> Self {
        Self {
            root: Root::new(&config.root),
            jobs_at: config.jobs_cgroup.clone(),
            limits: None,
        }
    }

    pub(super) fn sample(&mut self, now: Now) -> Reading<MemorySample> {
        let limits = self.limits(now.mono);
        let mut reading = Reading::from(self.measure(&limits.bounds));
        reading.notes.extend(limits.note);
        reading
    }

    fn measure(
        &self,
        bounds: &[MemoryBound],
    ) -> Result<Option<MemorySample>, CapacityError> {
        let text = self.root.read("/proc/meminfo")?;
        let missing = |what| {
            let path = self.root.at("/proc/meminfo");
            CapacityError::Unreadable { path, what }
        };
        let total = field(&text, "MemTotal:")
            .ok_or_else(|| missing("how much memory there is"))?;
        let available = field(&text, "MemAvailable:")
            .ok_or_else(|| missing("how much memory could be had"))?;
        let bound_by = "machine".to_owned();
        let mut sample = MemorySample { total, available, bound_by };
        for bound in bounds {
            self.narrow(&mut sample, bound);
        }
        Ok(Some(sample))
    }

    /// The tightest total is what there is; the tightest rest, which may be
    /// another cgroup's, is what could be had.
    fn narrow(&self, sample: &mut MemorySample, bound: &MemoryBound) {
        if bound.limit < sample.total {
            sample.total = bound.limit;
            sample.bound_by.clone_from(&bound.place.name);
        }
        let used = memory_used(&self.root, &bound.place).unwrap_or_default();
        sample.available = sample.available.min(bound.limit.minus(used));
    }

    fn limits(&mut self, now: MonoMs) -> Limits {
        match &self.limits {
            Some((at, limits)) if now.0.saturating_sub(at.0) < LIMITS_MS => {
                limits.clone()
            }
            _ => {
                let limits = self.look_up();
                self.limits = Some((now, limits.clone()));
                limits
            }
        }
    }

    fn look_up(&self) -> Limits {
        let jobs_at = self.jobs_at.as_deref();
        let ways = ways(&self.root, "memory", jobs_at);
        let bounds = memory_bounds(&self.root, &ways.jobs);
        let own = memory_bounds(&self.root, &ways.own);
        let own = own.into_iter().min_by_key(|bound| bound.limit);
        let note = own.map(|own| {
            let (by, limit) = (own.place.name, own.limit);
            let jobs = jobs_at.unwrap_or_default();
            format!(
                "the daemon's own cgroup `{by}` is limited to {limit}; \
                 jobs live under `{jobs}`, whose limits count"
            )
        });
        Limits { bounds, note }
    }
}

/// A field of `/proc/meminfo`, which counts in KiB and says `kB`.
fn field(text: &str, name: &str) -> Option<Bytes> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
    Some(Bytes(kib.saturating_mul(1024)))
}

#[cfg(test)]
mod tests {
    use super::MemorySampler;
    use crate::capacity::CapacityConfig;
    use crate::contract::{Bytes, Now};
    use std::fs;
    use tempfile::TempDir;

    fn machine(meminfo: &str) -> (TempDir, CapacityConfig) {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("proc/self")).unwrap();
        fs::write(root.path().join("proc/meminfo"), meminfo).unwrap();
        let at = root.path().to_owned();
        (root, CapacityConfig { root: at, ..CapacityConfig::default() })
    }

    fn limited(root: &TempDir, name: &str, max: &str) {
        let at = root.path();
        let mounts = "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        fs::write(at.join("proc/self/mountinfo"), mounts).unwrap();
        fs::write(at.join("proc/self/cgroup"), "0::/daemon\n").unwrap();
        let dir = at.join("sys/fs/cgroup").join(name);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("memory.max"), max).unwrap();
        fs::write(dir.join("memory.current"), "524288\n").unwrap();
    }

    const TWO_MIB: &str = "MemTotal:  2048 kB\nMemAvailable:  1536 kB\n";

    #[test]
    fn without_limits_it_is_the_machines_memory() {
        let (_root, config) = machine(TWO_MIB);
        let reading = MemorySampler::new(&config).sample(Now::default());
        let sample = reading.value.unwrap();
        assert_eq!(sample.total, Bytes::mib(2));
        assert_eq!(sample.available, Bytes(1536 << 10));
        assert_eq!(sample.bound_by, "machine");
    }

    #[test]
    fn a_cgroup_limit_binds_and_is_named() {
        let (root, config) = machine(TWO_MIB);
        limited(&root, "daemon", "1048576\n");
        let reading = MemorySampler::new(&config).sample(Now::default());
        let sample = reading.value.unwrap();
        assert_eq!(sample.total, Bytes::mib(1));
        assert_eq!(sample.available, Bytes(524_288));
        assert_eq!(sample.bound_by, "/daemon");
    }

    #[test]
    fn a_limit_of_the_daemon_alone_is_explained_and_does_not_bind() {
        let (root, config) = machine(TWO_MIB);
        limited(&root, "daemon", "1048576\n");
        let jobs_cgroup = Some("/docker".to_owned());
        let config = CapacityConfig { jobs_cgroup, ..config };
        let reading = MemorySampler::new(&config).sample(Now::default());
        assert_eq!(reading.value.unwrap().bound_by, "machine");
        assert!(reading.notes[0].contains("`/daemon` is limited to 1.0 MiB"));
    }

    #[test]
    fn a_kernel_that_does_not_say_is_absent_with_a_warning() {
        let (_root, config) = machine("MemTotal:  2048 kB\n");
        let reading = MemorySampler::new(&config).sample(Now::default());
        assert_eq!(reading.value, None);
        assert!(reading.warnings[0].contains("memory could be had"));
    }
}
