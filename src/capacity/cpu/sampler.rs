use super::ticks::{AllTicks, parse_stat, window};
use crate::capacity::cgroup::{CpuBound, cpu_bound, ways};
use crate::capacity::reading::Reading;
use crate::capacity::root::Root;
use crate::capacity::{CapacityConfig, CapacityError, CpuSample};
use crate::contract::{MonoMs, Now};

/// Ticks are 10 ms, so a shorter window than this would hold too few of them
/// to tell 0 from 1; who asks sooner gets the last answer again.
pub(in crate::capacity) const WINDOW_MS: u64 = 200;

/// Limits are changed by hand or by a service manager, and a walk up the
/// tree costs more than everything else here: five seconds is soon enough.
pub(in crate::capacity) const LIMITS_MS: u64 = 5000;

/// The processor.
#[derive(Debug)]
pub(in crate::capacity) struct CpuSampler {
    root: Root,
    jobs_at: Option<String>,
    limits: Option<(MonoMs, CpuBound, Option<String>)>,
    base: Option<(MonoMs, AllTicks)>,
    last: Option<CpuSample>,
}

impl CpuSampler {
    pub(in crate::capacity) fn new(config: &CapacityConfig) -> Self {
        Self {
            root: Root::new(&config.root),
            jobs_at: config.jobs_cgroup.clone(),
            limits: None,
            base: None,
            last: None,
        }
    }

    pub(in crate::capacity) fn sample(
        &mut self,
        now: Now,
    ) -> Reading<CpuSample> {
        let mut reading = Reading::from(self.measure(now.mono));
        if let Some((_, _, Some(note))) = &self.limits {
            reading.notes.push(note.clone());
        }
        reading
    }

    fn measure(
        &mut self,
        now: MonoMs,
    ) -> Result<Option<CpuSample>, CapacityError> {
        if let Some((at, _)) = &self.base
            && now.0.saturating_sub(at.0) < WINDOW_MS
        {
            return Ok(self.last.clone());
        }
        let text = self.root.read("/proc/stat")?;
        let new = parse_stat(&text);
        if new.is_empty() {
            let path = self.root.at("/proc/stat");
            let what = "how processors spent their time";
            return Err(CapacityError::Unreadable { path, what });
        }
        let bound = self.bound(now);
        let old = self.base.replace((now, new.clone()));
        if let Some((_, old)) = old {
            // A window in which no processor counted a tick (a clock that
            // jumped, a machine that was frozen) says nothing new.
            self.last = window(&old, &new, &bound).or(self.last.take());
        }
        Ok(self.last.clone())
    }

    fn bound(&mut self, now: MonoMs) -> CpuBound {
        match &self.limits {
            Some((at, bound, _)) if now.0.saturating_sub(at.0) < LIMITS_MS => {
                bound.clone()
            }
            _ => {
                let (bound, note) = self.look_up();
                self.limits = Some((now, bound.clone(), note));
                bound
            }
        }
    }

    fn look_up(&self) -> (CpuBound, Option<String>) {
        let jobs_at = self.jobs_at.as_deref();
        let quotas = ways(&self.root, "cpu", jobs_at);
        let sets = ways(&self.root, "cpuset", jobs_at);
        let bound = cpu_bound(&self.root, &quotas.jobs, &sets.jobs);
        let own = cpu_bound(&self.root, &quotas.own, &sets.own);
        let note = own.quota.filter(|_| jobs_at.is_some()).map(|(own, by)| {
            let cores = own.cores();
            let jobs = jobs_at.unwrap_or_default();
            format!(
                "the daemon's own cgroup `{by}` has a quota of {cores} \
                 cores; jobs live under `{jobs}`, whose limits count"
            )
        });
        (bound, note)
    }
}
