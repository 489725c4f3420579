use crate::capacity::CpuSample;
use crate::capacity::cgroup::CpuBound;
use crate::contract::{MilliCores, Ratio};
use std::collections::BTreeMap;

/// Time one processor spent, in ticks since it came up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ticks {
    pub(super) busy: u64,
    pub(super) idle: u64,
}

pub(super) type AllTicks = BTreeMap<u32, Ticks>;

/// What `/proc/stat` says of every processor that is online.
pub(super) fn parse_stat(text: &str) -> AllTicks {
    text.lines().take_while(|l| l.starts_with("cpu")).filter_map(one).collect()
}

/// `cpu3 user nice system idle iowait irq softirq steal guest guest_nice`;
/// guests are in `user` already, and stolen time is not ours to give.
fn one(line: &str) -> Option<(u32, Ticks)> {
    let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
    let cpu = words.next()?.parse().ok()?;
    if line.starts_with("cpu ") {
        return None; // The sum of all, which hides that one went away.
    }
    let mut ticks = Ticks::default();
    for (field, word) in words.take(8).enumerate() {
        let count: u64 = word.parse().ok()?;
        let sum = if matches!(field, 3 | 4) {
            &mut ticks.idle
        } else {
            &mut ticks.busy
        };
        *sum = sum.saturating_add(count);
    }
    Some((cpu, ticks))
}

/// What a window says; `None` where nothing ticked in it.
pub(super) fn window(
    old: &AllTicks,
    new: &AllTicks,
    bound: &CpuBound,
) -> Option<CpuSample> {
    let cpus = bound.cpus.as_ref();
    let allowed = |cpu: &u32| cpus.is_none_or(|(set, _)| set.contains(cpu));
    let (mut busy, mut all, mut busy_milli, mut online) = (0, 0, 0, 0_u64);
    for (cpu, now) in new.iter().filter(|(cpu, _)| allowed(cpu)) {
        online += 1;
        // One that came up within the window has no base, and one that was
        // away counts from anew: what went back is no time at all.
        let Some(then) = old.get(cpu) else { continue };
        let busy_now = now.busy.saturating_sub(then.busy);
        let idle_now = now.idle.saturating_sub(then.idle);
        let ticks = busy_now.saturating_add(idle_now);
        busy += u128::from(busy_now);
        all += u128::from(ticks);
        let milli = busy_now.saturating_mul(1000).checked_div(ticks);
        busy_milli += milli.unwrap_or(0);
    }
    if all == 0 {
        return None;
    }
    let there = MilliCores(online * 1000);
    let by = match cpus {
        Some((_, by)) if online < new.len() as u64 => by.clone(),
        _ => "machine".to_owned(),
    };
    let (total, bound_by) = match &bound.quota {
        Some((quota, by)) if *quota < there => (*quota, by.clone()),
        _ => (there, by),
    };
    let free = there.minus(MilliCores(busy_milli)).min(total);
    let utilization = Ratio::clamped(busy as f64 / all as f64)?;
    Some(CpuSample { utilization, total, free, bound_by })
}
