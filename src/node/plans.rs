//! The configuration as the rooms below want it: nothing is decided here.

use super::config::{Config, GpuConfig};
use crate::capacity::CapacityConfig;
use crate::contract::{
    Amount, NodeId, PriceUnit, PricingModel, RuntimeClass, RuntimeKind,
    RuntimeLimits, RuntimePrice, Token,
};
use crate::job::ClassPlan;
use crate::offer::{Identity, OfferPlan, Reserve, RuntimePlan};
use std::path::PathBuf;

/// What the owner says about measuring. `data_root` is the engine's, as far
/// as it is known.
pub(crate) fn capacity_config(
    config: &Config,
    data_root: PathBuf,
) -> CapacityConfig {
    let nvml = match &config.gpu {
        GpuConfig::Off => Vec::new(),
        GpuConfig::On { library } => {
            std::iter::once(PathBuf::from(CapacityConfig::NVML))
                .chain(library.clone())
                .collect()
        }
    };
    CapacityConfig {
        interval: config.intervals.sample,
        disks: vec![data_root, config.node.state_dir.clone()],
        uplinks: config.offer.uplinks.clone(),
        line_mbps: config.offer.line_mbps.map(f64::from),
        jobs_cgroup: config.engine.jobs_cgroup.clone(),
        nvml,
        ..CapacityConfig::default()
    }
}

/// What the owner lets be offered.
pub(crate) fn offer_plan(config: &Config, node: &NodeId) -> OfferPlan {
    let (of, reserve) = (&config.node, &config.reserve);
    OfferPlan {
        identity: Identity {
            node: node.clone(),
            region: of.region.clone(),
            cell: of.cell.clone(),
            provider: of.provider.clone(),
            trust: of.trust,
            capabilities: of.capabilities.clone(),
            workers: of.worker_kinds.clone(),
            pricing: of.pricing.clone(),
        },
        reserve: Reserve {
            cpu: reserve.cpu,
            memory: reserve.memory,
            disk: reserve.disk,
        },
        runtimes: runtimes(config),
        interval: config.intervals.offer,
        // A reading or two may come late on a busy machine; five have not
        // come at all.
        stale: config.intervals.sample.saturating_mul(5),
    }
}

fn runtimes(config: &Config) -> Vec<RuntimePlan> {
    if !config.offer.runtimes {
        return Vec::new();
    }
    let all = config.classes.iter();
    all.filter_map(|(class, plan)| runtime(config, *class, plan)).collect()
}

fn runtime(
    config: &Config,
    class: RuntimeClass,
    plan: &ClassPlan,
) -> Option<RuntimePlan> {
    let name = Token::try_from(class.as_str().to_owned()).ok()?;
    let kind = match class {
        RuntimeClass::Function => RuntimeKind::Function,
        RuntimeClass::Code
        | RuntimeClass::Browser
        | RuntimeClass::Linux
        | RuntimeClass::Desktop
        | RuntimeClass::Gpu => RuntimeKind::Container,
    };
    Some(RuntimePlan {
        name,
        class,
        kind,
        limits: RuntimeLimits {
            cpu_cores: plan.cpu.cores(),
            memory_mb: plan.memory.0 / 1_000_000,
            duration_seconds: Some(plan.caps.wall.as_secs()),
            concurrency: Some(u64::from(plan.slots)),
        },
        price: price(config)?,
        constraints: Vec::new(),
    })
}

/// The contract of runtimes knows no free allowance: what is free costs 0.
fn price(config: &Config) -> Option<RuntimePrice> {
    let pricing = &config.node.pricing;
    let unit = match pricing.model {
        PricingModel::PerRequest | PricingModel::PerOperation => {
            PriceUnit::Invocation
        }
        PricingModel::Prepaid
        | PricingModel::PerByte
        | PricingModel::PerSecond
        | PricingModel::FreeAllowance
        | PricingModel::Mixed => PriceUnit::Second,
    };
    let free = Amount::clamped(0.0)?;
    let amount_usd = pricing.marginal_usd_per_unit.unwrap_or(free);
    Some(RuntimePrice { amount_usd, unit })
}
