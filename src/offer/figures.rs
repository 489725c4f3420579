use super::{OfferFacts, Verdict};
use crate::capacity::{GpuSample, NetworkSample, Snapshot};
use crate::contract::{
    Amount, Bytes, Capacity, Cpu, Disk, Gpu, Memory, MilliCores, Network,
    Queue, Ratio, RuntimeClass,
};
use std::collections::BTreeMap;

/// What is free, each part absent where it is not known. Old samples are
/// not known: a number of ten seconds ago with the time of now would lie.
pub(super) fn capacity(facts: &OfferFacts<'_>, verdict: &Verdict) -> Capacity {
    let workers = Some(workers(facts, verdict));
    let queues = queues(facts);
    if !facts.is_fresh() {
        return Capacity { workers, queues, ..Capacity::default() };
    }
    let measured = facts.snapshot;
    Capacity {
        cpu: cpu(facts),
        memory: memory(facts),
        network: measured.network.map(network),
        disk: disk(facts),
        gpu: largest_free_gpu(facts).map(gpu),
        workers,
        queues,
        event_loop_lag_ms: measured.event_loop_lag_ms.and_then(tidy),
    }
}

fn cpu(facts: &OfferFacts<'_>) -> Option<Cpu> {
    let sample = facts.snapshot.cpu.as_ref()?;
    let utilization = share(sample.utilization.get());
    let available_cores = free_cores(facts).map(MilliCores::cores);
    Some(Cpu { utilization, available_cores })
}

/// Cores neither busy, reserved, nor promised. What jobs use of what they
/// were promised is busy too, and is given back before the promise is taken,
/// or it would be taken twice.
pub(super) fn free_cores(facts: &OfferFacts<'_>) -> Option<MilliCores> {
    let sample = facts.snapshot.cpu.as_ref()?;
    let promised = facts.view.promised;
    let used = promised.cpu_used.min(promised.cpu);
    let idle = MilliCores(sample.free.0.saturating_add(used.0));
    let idle = idle.min(sample.total);
    Some(idle.minus(facts.plan.reserve.cpu).minus(promised.cpu))
}

fn memory(facts: &OfferFacts<'_>) -> Option<Memory> {
    let sample = facts.snapshot.memory.as_ref()?;
    let used = sample.total.minus(sample.available);
    let utilization = share(part(used, sample.total));
    let available_mb = free_memory(facts).map(Bytes::mb);
    Some(Memory { utilization, available_mb })
}

/// Memory, in the same way as cores.
pub(super) fn free_memory(facts: &OfferFacts<'_>) -> Option<Bytes> {
    let sample = facts.snapshot.memory.as_ref()?;
    let promised = facts.view.promised;
    let used = promised.memory_used.min(promised.memory);
    let idle = Bytes(sample.available.0.saturating_add(used.0));
    let idle = idle.min(sample.total);
    Some(idle.minus(facts.plan.reserve.memory).minus(promised.memory))
}

fn network(sample: NetworkSample) -> Network {
    let used = sample.ingress_mbps + sample.egress_mbps;
    Network {
        ingress_mbps: tidy(sample.ingress_mbps),
        egress_mbps: tidy(sample.egress_mbps),
        available_mbps: sample.line_mbps.and_then(|line| tidy(line - used)),
    }
}

fn disk(facts: &OfferFacts<'_>) -> Option<Disk> {
    let sample = facts.snapshot.disk.as_ref()?;
    let used = sample.total.minus(sample.free);
    let scratch = sample.free.minus(facts.plan.reserve.disk);
    Some(Disk {
        iops_available: sample.iops_available.and_then(tidy),
        scratch_gb: Some(scratch.gb()),
        utilization: share(part(used, sample.total)),
    })
}

fn gpu(sample: &GpuSample) -> Gpu {
    Gpu {
        model: Some(sample.name.clone()),
        vram_free_mb: Some(sample.vram_free.mb()),
        utilization: sample.utilization.and_then(|u| share(u.get())),
    }
}

/// The device with the most free memory of those that no job holds.
pub(super) fn largest_free_gpu<'a>(
    facts: &OfferFacts<'a>,
) -> Option<&'a GpuSample> {
    let leased = &facts.view.leased_gpus;
    let snapshot: &'a Snapshot = facts.snapshot;
    let free = snapshot.gpus.iter().filter(|gpu| !leased.contains(&gpu.uuid));
    free.max_by_key(|gpu| gpu.vram_free)
}

/// How many jobs of each class could start now, alone. A class configured
/// here is always named, so that a reader can tell 0 from never.
fn workers(facts: &OfferFacts<'_>, verdict: &Verdict) -> BTreeMap<String, u64> {
    let declared = facts.plan.identity.workers.iter();
    let mut workers: BTreeMap<_, _> = declared
        .filter(|(kind, _)| RuntimeClass::from_name(kind).is_none())
        .map(|(kind, &count)| (kind.clone(), count))
        .collect();
    for &class in facts.view.classes.keys() {
        let free = free_slots(facts, verdict, class);
        workers.insert(class.as_str().to_owned(), free);
    }
    workers
}

/// Free slots of a class, as far as the memory of now holds them.
pub(super) fn free_slots(
    facts: &OfferFacts<'_>,
    verdict: &Verdict,
    class: RuntimeClass,
) -> u64 {
    let Some(slot) = facts.view.classes.get(&class) else { return 0 };
    if !slot.offered || !verdict.gives(class) {
        return 0;
    }
    let room = free_memory(facts).filter(|_| facts.is_fresh());
    let held = room.and_then(|room| room.0.checked_div(slot.memory.0));
    u64::from(slot.free).min(held.unwrap_or(u64::MAX))
}

fn queues(facts: &OfferFacts<'_>) -> Option<BTreeMap<String, Queue>> {
    let named = |(class, queue): (&RuntimeClass, &Queue)| {
        (class.as_str().to_owned(), *queue)
    };
    let queues: BTreeMap<_, _> = facts.view.queues.iter().map(named).collect();
    (!queues.is_empty()).then_some(queues)
}

fn part(of: Bytes, whole: Bytes) -> f64 {
    of.0 as f64 / whole.0 as f64
}

/// Three decimals are more than any of these is exact to, and a tenth of
/// the text.
fn tidy(x: f64) -> Option<Amount> {
    Amount::clamped((x * 1000.0).round() / 1000.0)
}

fn share(x: f64) -> Option<Ratio> {
    Ratio::clamped((x * 1000.0).round() / 1000.0)
}
