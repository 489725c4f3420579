//! A node that is well, for the tests of this room.
use super::{
    ClassFacts, Identity, JobView, OfferFacts, OfferPlan, Reserve, RuntimePlan,
};
use crate::capacity::{
    CpuSample, DiskSample, GpuSample, MemorySample, NetworkSample, Snapshot,
};
use crate::contract::{
    Amount, Bytes, MilliCores, Now, PriceUnit, Pricing, PricingModel, Ratio,
    RuntimeClass, RuntimeKind, RuntimeLimits, RuntimePrice, Token, Trust,
};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) struct Fixture {
    pub(super) plan: OfferPlan,
    pub(super) snapshot: Snapshot,
    pub(super) view: JobView,
    pub(super) latency: BTreeMap<String, Amount>,
}

impl Fixture {
    /// Four cores of which one is busy, 8 GB of which 6 are free, one class
    /// with two slots.
    pub(super) fn new() -> Self {
        let mut view = JobView::default();
        let memory = Bytes(1_000_000_000);
        let class = ClassFacts { offered: true, free: 2, memory };
        view.classes.insert(RuntimeClass::Function, class);
        Self {
            plan: plan(),
            snapshot: snapshot(),
            view,
            latency: BTreeMap::new(),
        }
    }

    pub(super) fn measured(&mut self, now: Now) {
        self.snapshot.at = now.wall;
        self.snapshot.taken = now.boot;
    }

    pub(super) fn facts(&self, now: Now) -> OfferFacts<'_> {
        OfferFacts {
            plan: &self.plan,
            snapshot: &self.snapshot,
            view: &self.view,
            latency: &self.latency,
            now,
        }
    }

    pub(super) fn slots(&mut self, class: &str, free: u32) {
        let class = RuntimeClass::from_name(class).unwrap();
        self.view.classes.get_mut(&class).unwrap().free = free;
    }

    pub(super) fn runtime(&mut self, name: &str) {
        let zero = Amount::default();
        self.plan.runtimes.push(RuntimePlan {
            name: token(name),
            class: RuntimeClass::Function,
            kind: RuntimeKind::Function,
            limits: RuntimeLimits {
                cpu_cores: zero,
                memory_mb: 512,
                duration_seconds: Some(60),
                concurrency: Some(2),
            },
            price: RuntimePrice {
                amount_usd: zero,
                unit: PriceUnit::Invocation,
            },
            constraints: vec!["no network".to_owned()],
        });
    }
}

fn token(text: &str) -> Token {
    Token::try_from(text.to_owned()).unwrap()
}

fn plan() -> OfferPlan {
    OfferPlan {
        identity: Identity {
            node: token("n1"),
            region: token("home"),
            cell: None,
            provider: Some("somebody".to_owned()),
            trust: Trust::UserOwned,
            capabilities: Vec::new(),
            workers: BTreeMap::new(),
            pricing: Pricing {
                model: PricingModel::FreeAllowance,
                marginal_usd_per_unit: None,
                unit: None,
                rate_card: None,
            },
        },
        reserve: Reserve::default(),
        runtimes: Vec::new(),
        interval: Duration::from_secs(10),
        stale: Duration::from_secs(5),
    }
}

fn snapshot() -> Snapshot {
    let gb = |n: u64| Bytes(n * 1_000_000_000);
    Snapshot {
        cpu: Some(CpuSample {
            utilization: Ratio::clamped(0.25).unwrap(),
            total: MilliCores(4000),
            free: MilliCores(3000),
            bound_by: "machine".to_owned(),
        }),
        memory: Some(MemorySample {
            total: gb(8),
            available: gb(6),
            bound_by: "machine".to_owned(),
        }),
        network: Some(NetworkSample {
            ingress_mbps: 30.0,
            egress_mbps: 20.0,
            line_mbps: Some(1000.0),
        }),
        disk: Some(DiskSample {
            path: "/".into(),
            total: gb(100),
            free: gb(40),
            inodes_free: None,
            iops_available: Some(1234.5678),
        }),
        gpus: vec![card("GPU-a", 4), card("GPU-b", 6)],
        event_loop_lag_ms: Some(0.25),
        ..Snapshot::default()
    }
}

fn card(uuid: &str, free: u64) -> GpuSample {
    GpuSample {
        uuid: uuid.to_owned(),
        name: format!("Card of {free}"),
        vram_total: Bytes(8_000_000_000),
        vram_free: Bytes(free * 1_000_000_000),
        utilization: None,
    }
}
