//! The status document, from all that is known at one moment.

use super::config::Config;
use super::engine_watch::EngineState;
use super::link_config::Instance;
use crate::capacity::Snapshot;
use crate::contract::{
    Bytes, ExitReport, Limits, Now, Ratio, RuntimeClass, Timestamp,
};
use crate::contract::{
    CapacityReport, ClassReport, CpuReport, DiskReport, EngineReport,
    EngineState as EngineWord, GpuReport, HealthReport, JobLimitsReport,
    JobPhase, JobReport, JobUseReport, JobsReport, LinkReport, MemoryReport,
    NetworkReport, NodeReport, OfferReport, ProbeReport, ReasonReport,
    RefusalReport, StatusDocument,
};
use crate::job::{ClassView, EndedJob, JobsView, RefusalSeen, RunningJob};
use crate::link::LinkState;
use crate::offer::Verdict;
use std::borrow::Cow;
use std::time::Duration;

/// All that is known at one moment.
pub(crate) struct Seen<'a> {
    /// The configuration.
    pub(crate) config: &'a Config,
    /// This run.
    pub(crate) run: &'a Instance,
    /// What was measured.
    pub(crate) snapshot: &'a Snapshot,
    /// The link.
    pub(crate) link: &'a LinkState,
    /// The engine.
    pub(crate) engine: &'a EngineState,
    /// The jobs.
    pub(crate) jobs: &'a JobsView,
    /// What ails the node, weighed.
    pub(crate) verdict: &'a Verdict,
    /// Offers that were published.
    pub(crate) offers: OfferReport,
    /// When this is.
    pub(crate) now: Now,
}

/// The whole document.
pub(crate) fn status(seen: &Seen<'_>) -> StatusDocument {
    StatusDocument {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        at: seen.now.wall,
        node: node(seen),
        health: HealthReport {
            status: seen.verdict.status,
            reasons: seen.verdict.reasons.iter().map(Into::into).collect(),
            error_rate: seen.jobs.error_rate.map(Ratio::get),
        },
        link: link(seen.link),
        engine: engine(seen.engine),
        classes: RuntimeClass::ALL
            .into_iter()
            .map(|class| one_class(seen, class))
            .collect(),
        capacity: capacity(seen),
        jobs: jobs(seen),
        refusals: seen.jobs.refusals.iter().rev().map(refusal).collect(),
        offer: seen.offers.clone(),
        warnings: warnings(seen),
    }
}

fn node(seen: &Seen<'_>) -> NodeReport {
    let of = &seen.config.node;
    NodeReport {
        id: seen.run.node.to_string(),
        region: of.region.to_string(),
        cell: of.cell.clone(),
        trust: of.trust,
        provider: of.provider.clone(),
        instance: seen.run.id.clone(),
        started: seen.run.started,
    }
}

fn link(link: &LinkState) -> LinkReport {
    let (server, denied) = match link {
        LinkState::Connected { server, .. } => (server.clone(), Vec::new()),
        LinkState::Denied { server, denied, .. } => {
            (server.clone(), denied.clone())
        }
        LinkState::Connecting { .. }
        | LinkState::Refused { .. }
        | LinkState::Deaf { .. }
        | LinkState::Disconnected { .. }
        | LinkState::Yielded { .. }
        | LinkState::Ended => (String::new(), Vec::new()),
    };
    LinkReport {
        state: Cow::Borrowed(link.word()),
        server,
        since: link.since().unwrap_or_default(),
        denied,
        // Where all is well the word and the server have said it.
        text: match link {
            LinkState::Connected { .. } => String::new(),
            LinkState::Connecting { .. }
            | LinkState::Denied { .. }
            | LinkState::Refused { .. }
            | LinkState::Deaf { .. }
            | LinkState::Disconnected { .. }
            | LinkState::Yielded { .. }
            | LinkState::Ended => link.to_string(),
        },
    }
}

fn engine(engine: &EngineState) -> EngineReport {
    match engine {
        EngineState::Up(info) => EngineReport {
            state: EngineWord::Ready,
            version: info.version.clone(),
            api: info.api.clone(),
            cgroup: info.cgroup_version.to_string(),
        },
        EngineState::Unknown => EngineReport::default(),
        EngineState::Unsuited(_) | EngineState::Away { .. } => {
            EngineReport { state: EngineWord::Away, ..EngineReport::default() }
        }
    }
}

fn one_class(seen: &Seen<'_>, class: RuntimeClass) -> ClassReport {
    let plan = seen.config.classes.get(&class);
    let view = seen.jobs.classes.iter().find(|view| view.class == class);
    let why = view.and_then(|view| why_not(seen, view));
    let offered = view.is_some() && why.is_none();
    ClassReport {
        class,
        configured: plan.is_some(),
        offered,
        slots: view.map_or(0, |view| u64::from(view.slots)),
        free: view.filter(|_| offered).map_or(0, |it| u64::from(it.free)),
        cpu: plan.map(|plan| plan.cpu).unwrap_or_default(),
        memory: plan.map(|plan| plan.memory).unwrap_or_default(),
        image: plan.map(|plan| plan.image.clone()).unwrap_or_default(),
        probe: seen.jobs.checked.map(|at| probe(at, view)),
        why_not: why,
    }
}

/// A class's own reason, or that of the whole node.
fn why_not(seen: &Seen<'_>, view: &ClassView) -> Option<ReasonReport> {
    if let Some(why) = &view.withdrawn {
        return Some(why.into());
    }
    if seen.verdict.offers(view.class) {
        return None;
    }
    seen.verdict.reasons.first().map(Into::into)
}

fn probe(at: Timestamp, view: Option<&ClassView>) -> ProbeReport {
    let failed = view.and_then(|view| view.withdrawn.as_ref());
    ProbeReport {
        at,
        failed: failed.map(|it| it.text.clone()).into_iter().collect(),
    }
}

fn capacity(seen: &Seen<'_>) -> CapacityReport {
    let (it, reserve) = (seen.snapshot, &seen.config.reserve);
    let promised = &seen.jobs.promised;
    CapacityReport {
        at: it.at,
        cpu: it.cpu.as_ref().map(|cpu| CpuReport {
            utilization: cpu.utilization.get(),
            total: cpu.total,
            available: cpu.free.minus(reserve.cpu).minus(promised.cpu),
            bound_by: cpu.bound_by.clone(),
        }),
        memory: it.memory.as_ref().map(|memory| MemoryReport {
            total: memory.total,
            available: memory
                .available
                .minus(reserve.memory)
                .minus(promised.memory),
            bound_by: memory.bound_by.clone(),
        }),
        disk: it.disk.as_ref().map(|disk| DiskReport {
            path: disk.path.display().to_string(),
            total: disk.total,
            free: disk.free.minus(reserve.disk),
            inodes_free: disk.inodes_free.map(Ratio::get),
            iops_available: disk.iops_available,
        }),
        network: it.network.map(|network| NetworkReport {
            ingress_mbps: network.ingress_mbps,
            egress_mbps: network.egress_mbps,
            line_mbps: network.line_mbps,
        }),
        gpus: it.gpus.iter().map(gpu).collect(),
        warnings: it.warnings.iter().map(ToString::to_string).collect(),
    }
}

fn gpu(gpu: &crate::capacity::GpuSample) -> GpuReport {
    GpuReport {
        uuid: gpu.uuid.clone(),
        name: gpu.name.clone(),
        vram_total: gpu.vram_total,
        vram_free: gpu.vram_free,
        utilization: gpu.utilization.map(Ratio::get),
    }
}

fn jobs(seen: &Seen<'_>) -> JobsReport {
    let all = &seen.jobs.jobs;
    let ended = seen.jobs.ended.iter();
    let by = ended.map(|(reason, n)| (Cow::Borrowed(reason.as_str()), *n));
    let ended = seen.jobs.ended.values().sum();
    let held = all.len() as u64;
    JobsReport {
        running: all.iter().map(|job| running(job, seen.now)).collect(),
        held,
        accepted: seen.jobs.accepted,
        refused: seen.jobs.refused,
        ended,
        ended_by: by.collect(),
        exits_waiting: seen.jobs.ledger.unacknowledged as u64,
        unacked: seen.jobs.ledger.unacked as u64,
    }
}

/// One job that is here.
pub(crate) fn running(job: &RunningJob, now: Now) -> JobReport {
    let used = job.started_mono.map_or(0, |at| now.mono.0.saturating_sub(at.0));
    JobReport {
        id: job.id.clone(),
        class: job.class,
        artifact: Some(job.artifact.to_string()),
        dispatcher: job.dispatcher.to_string(),
        state: job.phase,
        accepted: job.received,
        started: job.started,
        expires: None,
        limits: limits(job.limits),
        used: JobUseReport {
            wall_ms: used,
            cpu_ms: job.used.cpu_ms,
            mem_peak: job.used.mem_peak_bytes.map(Bytes),
            output: Bytes(job.used.output_bytes),
        },
        exit: None,
    }
}

/// One job that ended.
pub(crate) fn ended(of: &EndedJob, now: Now) -> JobReport {
    let state = if of.acked { JobPhase::Settled } else { JobPhase::Ended };
    JobReport {
        state,
        used: JobUseReport {
            wall_ms: of.usage.wall_ms,
            cpu_ms: of.usage.cpu_ms,
            mem_peak: of.usage.mem_peak_bytes.map(Bytes),
            output: Bytes(of.job.used.output_bytes),
        },
        exit: Some(ExitReport {
            reason: Cow::Borrowed(of.reason.as_str()),
            code: of.code,
            at: of.at,
            acked: of.acked,
            reasons: of.reasons.iter().map(Into::into).collect(),
        }),
        ..running(&of.job, now)
    }
}

fn limits(limits: Limits) -> JobLimitsReport {
    let ms = |it: Duration| u64::try_from(it.as_millis()).unwrap_or(u64::MAX);
    JobLimitsReport {
        wall_ms: ms(limits.wall),
        cpu_ms: ms(limits.cpu),
        mem: limits.memory,
    }
}

fn refusal(seen: &RefusalSeen) -> RefusalReport {
    RefusalReport {
        at: seen.at,
        job: seen.id.clone(),
        dispatcher: seen.dispatcher.to_string(),
        code: Cow::Borrowed(seen.code.as_str()),
        message: seen.message.clone(),
    }
}

/// What the owner should know and do something about.
fn warnings(seen: &Seen<'_>) -> Vec<String> {
    let measured = seen.snapshot.warnings.iter().map(ToString::to_string);
    let bare = seen.config.classes.is_empty().then(|| {
        "no class is configured: add [class.function] to the config".to_owned()
    });
    measured.chain(bare).collect()
}
