use super::Place;
use crate::capacity::root::Root;
use crate::contract::{Bytes, MilliCores};
use std::collections::BTreeSet;

/// Numbers of processors.
pub(super) type CpuSet = BTreeSet<u32>;

/// What cgroups allow of the processor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::capacity) struct CpuBound {
    /// Which processors, and whose word that is.
    pub(in crate::capacity) cpus: Option<(CpuSet, String)>,
    /// The tightest quota, and whose it is.
    pub(in crate::capacity) quota: Option<(MilliCores, String)>,
}

/// A limit of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::capacity) struct MemoryBound {
    pub(in crate::capacity) place: Place,
    pub(in crate::capacity) limit: Bytes,
}

/// The tightest quota of one way up and the cpuset at the bottom of the
/// other (the kernel has already cut that one to what its parents allow).
pub(in crate::capacity) fn cpu_bound(
    root: &Root,
    quotas: &[Place],
    sets: &[Place],
) -> CpuBound {
    let quota = quotas
        .iter()
        .filter_map(|at| Some((quota(root, at)?, at.name.clone())))
        .min();
    let cpus =
        sets.iter().find_map(|at| Some((cpuset(root, at)?, at.name.clone())));
    CpuBound { cpus, quota }
}

fn quota(root: &Root, at: &Place) -> Option<MilliCores> {
    let (quota, period) = if at.unified {
        let text = root.word(at.dir.join("cpu.max"))?;
        let (quota, period) = text.split_once(' ')?;
        // `max` is no number: no limit.
        (quota.parse::<u64>().ok()?, period.parse::<u64>().ok()?)
    } else {
        // -1 is no limit, and no unsigned number either.
        let quota = root.number(at.dir.join("cpu.cfs_quota_us"))?;
        (quota, root.number(at.dir.join("cpu.cfs_period_us"))?)
    };
    quota.saturating_mul(1000).checked_div(period).map(MilliCores)
}

fn cpuset(root: &Root, at: &Place) -> Option<CpuSet> {
    let names: &[&str] = if at.unified {
        &["cpuset.cpus.effective"]
    } else {
        &["cpuset.effective_cpus", "cpuset.cpus"]
    };
    names
        .iter()
        .filter_map(|name| parse_cpus(&root.word(at.dir.join(name))?))
        .find(|set| !set.is_empty())
}

/// `0-3,8` as numbers; `None` for anything else.
pub(super) fn parse_cpus(list: &str) -> Option<CpuSet> {
    // More than a kernel can be built for is a text gone wrong.
    const MOST: u32 = 8192;
    let mut set = CpuSet::new();
    for part in list.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: u32 = first.parse().ok()?;
        let last: u32 = last.parse().ok()?;
        if last >= MOST {
            return None;
        }
        set.extend(first..=last);
    }
    Some(set)
}

/// All limits of memory on one way up. v1 says "none" by a number near
/// 2^63, which is above every machine's memory and never binds.
pub(in crate::capacity) fn memory_bounds(
    root: &Root,
    places: &[Place],
) -> Vec<MemoryBound> {
    let limit = |at: &Place| {
        let name =
            if at.unified { "memory.max" } else { "memory.limit_in_bytes" };
        root.number(at.dir.join(name)).filter(|&limit| limit < 1 << 62)
    };
    places
        .iter()
        .filter_map(|at| {
            let limit = Bytes(limit(at)?);
            Some(MemoryBound { place: at.clone(), limit })
        })
        .collect()
}

/// What counts against a limit and could not be had back: the kernel drops
/// file pages that nobody used of late before it refuses memory.
pub(in crate::capacity) fn memory_used(
    root: &Root,
    at: &Place,
) -> Option<Bytes> {
    let (usage, cold) = if at.unified {
        ("memory.current", "inactive_file")
    } else {
        ("memory.usage_in_bytes", "total_inactive_file")
    };
    let usage = Bytes(root.number(at.dir.join(usage))?);
    let stat = root.word(at.dir.join("memory.stat")).unwrap_or_default();
    let cold = stat.lines().find_map(|line| {
        let (name, bytes) = line.split_once(' ')?;
        (name == cold).then(|| bytes.parse().ok())?
    });
    Some(usage.minus(Bytes(cold.unwrap_or(0))))
}
