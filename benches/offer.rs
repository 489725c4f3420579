//! What it costs to know what is free, and to say so: the CPU time of one
//! capacity sample (1 ms at most, 0.2 ms is the aim), and an offer made and
//! written (50 µs at most).
use criterion::{Criterion, criterion_group, criterion_main};
use ovnode::capacity::{CapacityConfig, Sampler, Snapshot};
use ovnode::contract::{
    BootMs, Bytes, MonoMs, Now, Pricing, PricingModel, RuntimeClass, Timestamp,
    Token, Trust,
};
use ovnode::offer::{
    ClassFacts, Identity, JobView, Latencies, OfferFacts, OfferPlan, Operation,
    Reserve, statements,
};
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

/// A moment `seconds` after another: each sample sees a window of a second,
/// and walks up to the limits of cgroups as often as in life.
fn after(seconds: u64) -> Now {
    let ms = seconds * 1000;
    Now {
        wall: Timestamp(1_700_000_000_000 + ms),
        mono: MonoMs(ms),
        boot: BootMs(ms),
    }
}

fn config() -> CapacityConfig {
    CapacityConfig {
        disks: vec!["/var/lib".into(), "/tmp".into()],
        jobs_cgroup: Some("/docker".to_owned()),
        ..CapacityConfig::default()
    }
}

fn cpu_time() -> Duration {
    let spent = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(spent).unwrap_or_default()
}

fn sample(c: &mut Criterion) {
    let mut sampler = Sampler::new(&config());
    let mut second = 0;
    c.bench_function("one capacity sample (CPU time)", |bench| {
        bench.iter_custom(|rounds| {
            let begun = cpu_time();
            for _ in 0..rounds {
                second += 1;
                black_box(sampler.sample(after(second)));
            }
            cpu_time().saturating_sub(begun)
        });
    });
}

fn offer(c: &mut Criterion) {
    let mut sampler = Sampler::new(&config());
    sampler.sample(after(1));
    let snapshot = sampler.sample(after(2));
    let (plan, view, latencies) = (plan(), view(), latencies());
    c.bench_function("an offer made and written", |bench| {
        bench.iter(|| written(&plan, &view, &snapshot, &latencies));
    });
}

fn written(
    plan: &OfferPlan,
    view: &JobView,
    snapshot: &Snapshot,
    latencies: &Latencies,
) -> Vec<Vec<u8>> {
    let latency = latencies.summary();
    let now = after(2);
    let latency = &latency;
    let facts = OfferFacts { plan, snapshot, view, latency, now };
    let said = statements(black_box(&facts));
    said.iter().map(|said| said.offer.to_json()).collect()
}

fn token(text: &str) -> Token {
    Token::try_from(text.to_owned()).expect("a token")
}

fn plan() -> OfferPlan {
    let pricing = Pricing {
        model: PricingModel::FreeAllowance,
        marginal_usd_per_unit: None,
        unit: None,
        rate_card: None,
    };
    OfferPlan {
        identity: Identity {
            node: token("node_01JAB2C3D4E5F6G7H8J9K0MNPQ"),
            region: token("home"),
            cell: Some("cell-1".to_owned()),
            provider: Some("somebody".to_owned()),
            trust: Trust::UserOwned,
            capabilities: Vec::new(),
            workers: BTreeMap::from([("ffmpeg".to_owned(), 2)]),
            pricing,
        },
        reserve: Reserve::default(),
        runtimes: Vec::new(),
        interval: Duration::from_secs(10),
        stale: Duration::from_secs(5),
    }
}

fn view() -> JobView {
    let memory = Bytes::mib(512);
    let class = ClassFacts { offered: true, free: 2, memory };
    let classes = RuntimeClass::ALL.iter().map(|&name| (name, class));
    JobView { classes: classes.collect(), ..JobView::default() }
}

fn latencies() -> Latencies {
    let latencies = Latencies::default();
    let starts = RuntimeClass::ALL.iter().map(|&c| Operation::Start(c));
    for operation in starts.chain([Operation::Publish, Operation::Ack]) {
        for ms in 0..128 {
            latencies.record(operation, Duration::from_millis(ms % 37));
        }
    }
    latencies
}

criterion_group!(benches, sample, offer);
criterion_main!(benches);
