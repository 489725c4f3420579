use crate::cgroup::Cgroup;
use std::time::Duration;

/// As often as the limit is looked at when it is near.
const OFTEN: Duration = Duration::from_millis(250);
/// As rarely when it is far: a machine may get more cores meanwhile.
const RARELY: Duration = Duration::from_secs(10);

/// Watches over a job's CPU limit.
///
/// The kernel has no alarm for a group's CPU time, so it is looked at: no
/// sooner than all cores together could have used up what is left.
pub(crate) struct CpuWatch {
    base: Option<Duration>,
    limit: Duration,
    cores: u32,
    look_at: Option<Duration>,
}

impl CpuWatch {
    /// Starts to count now; `look` must be called when `due`.
    pub(crate) fn start(cgroup: &Cgroup, limit: Duration) -> Self {
        // All that the kernel would let it run on, not its quota: the daemon
        // lifts that where it has to end a job.
        let cores = rustix::thread::sched_getaffinity(None)
            .map_or(1, |set| set.count().max(1));
        Self { base: cgroup.cpu(), limit, cores, look_at: None }
    }

    /// The job runs since `now`: there is something to look at from now on,
    /// unless the counter is out of sight. (The daemon looks too, outside.)
    pub(crate) fn arm(&mut self, now: Duration) {
        if self.base.is_some() {
            self.look_at = Some(now.saturating_add(self.pause(self.limit)));
        }
    }

    /// CPU used since the start.
    pub(crate) fn used(&self, cgroup: &Cgroup) -> Option<Duration> {
        Some(cgroup.cpu()?.saturating_sub(self.base?))
    }

    /// When to look next.
    pub(crate) const fn due(&self) -> Option<Duration> {
        self.look_at
    }

    /// Looks, where it is time to; whether the limit is used up.
    pub(crate) fn look(&mut self, cgroup: &Cgroup, now: Duration) -> bool {
        if self.look_at.is_none_or(|at| now < at) {
            return false;
        }
        let used = self.used(cgroup).unwrap_or_default();
        let left = self.limit.saturating_sub(used);
        let over = left.is_zero();
        self.look_at = (!over).then(|| now.saturating_add(self.pause(left)));
        over
    }

    fn pause(&self, left: Duration) -> Duration {
        (left / self.cores).clamp(OFTEN, RARELY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    #[test]
    fn a_limit_is_looked_at_more_often_the_nearer_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let counter = dir.path().join("cpu.stat");
        let used = |secs: u64| {
            let text = format!("usage_usec {}\n", secs * 1_000_000);
            fs::write(&counter, text).unwrap();
        };
        used(100);
        let cgroup = Cgroup::at(Some(dir.path()));
        let mut watch = CpuWatch::start(&cgroup, secs(20));
        watch.cores = 4;
        assert_eq!(watch.due(), None);
        watch.arm(secs(0));
        assert_eq!(watch.due(), Some(secs(5)));
        used(112);
        assert!(!watch.look(&cgroup, secs(5)));
        assert_eq!(watch.due(), Some(secs(7)));
        used(119);
        assert!(!watch.look(&cgroup, secs(7)));
        assert_eq!(watch.due(), Some(secs(7) + OFTEN));
        used(120);
        assert!(!watch.look(&cgroup, secs(7)), "it is not time to look");
        assert!(watch.look(&cgroup, secs(8)));
        assert_eq!(watch.due(), None);
        assert_eq!(watch.used(&cgroup), Some(secs(20)));
    }

    #[test]
    fn a_counter_out_of_sight_wakes_nobody() {
        let mut watch = CpuWatch::start(&Cgroup::at(None), secs(1));
        watch.arm(secs(0));
        assert_eq!(watch.due(), None);
        assert_eq!(watch.used(&Cgroup::at(None)), None);
    }
}
