use super::fixture::Fixture;
use super::{
    Condition, Finding, JobView, Latencies, OfferParts, Operation, Promised,
    Reserve, Say, Statement, compose, start, statements,
};
use crate::capacity::{Remark, Resource};
use crate::contract::{
    BootMs, Bytes, Capability, Capacity, Clock, HealthStatus, MilliCores, Now,
    OfferKind, Ratio, ResourceOffer, RuntimeClass, Timestamp, validate,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

const MOMENT: u64 = 1_700_000_000_000;

fn now() -> Now {
    Now { wall: Timestamp(MOMENT), boot: BootMs(60_000), ..Now::default() }
}

fn node() -> Fixture {
    let mut node = Fixture::new();
    node.measured(now());
    node
}

fn offer(node: &Fixture) -> ResourceOffer {
    let offer = compose(&node.facts(now()));
    let json = String::from_utf8(offer.to_json()).unwrap();
    assert_eq!(validate("resource-offer", &json), Ok(()), "{json}");
    assert_eq!(ResourceOffer::parse(json.as_bytes()), Ok(offer.clone()));
    offer
}

fn capacity(node: &Fixture) -> Capacity {
    offer(node).capacity.unwrap()
}

fn capabilities(offer: &ResourceOffer) -> Vec<&str> {
    offer.capabilities.iter().map(Capability::as_str).collect()
}

fn cores(node: &Fixture) -> f64 {
    capacity(node).cpu.unwrap().available_cores.unwrap().get()
}

fn megabytes(node: &Fixture) -> f64 {
    capacity(node).memory.unwrap().available_mb.unwrap().get()
}

fn workers(node: &Fixture, kind: &str) -> Option<u64> {
    capacity(node).workers.unwrap().get(kind).copied()
}

#[test]
fn a_node_that_is_well_offers_what_is_free() {
    let mut node = node();
    let json = |key: &str, node: &Fixture| {
        serde_json::to_value(capacity(node)).unwrap()[key].clone()
    };
    node.latency.extend(Latencies::default().summary());
    let offered = offer(&node);
    assert_eq!(offered.offer_id, "off_n1_node");
    assert_eq!(offered.health.status, HealthStatus::Up);
    assert_eq!(offered.updated_at, Timestamp(MOMENT));
    assert_eq!(capabilities(&offered), ["worker:function"]);
    let cpu = serde_json::json!({"utilization": 0.25, "available_cores": 3.0});
    assert_eq!(json("cpu", &node), cpu);
    let disk = serde_json::json!({
        "iops_available": 1234.568, "scratch_gb": 40.0, "utilization": 0.6,
    });
    assert_eq!(json("disk", &node), disk);
    let network = serde_json::json!({
        "ingress_mbps": 30.0, "egress_mbps": 20.0, "available_mbps": 950.0,
    });
    assert_eq!(json("network", &node), network);
    assert_eq!(json("workers", &node), serde_json::json!({"function": 2}));
}

#[test]
fn what_is_reserved_and_promised_is_not_offered() {
    let mut node = node();
    node.plan.reserve = Reserve {
        cpu: MilliCores(500),
        memory: Bytes(1_000_000_000),
        disk: Bytes(15_000_000_000),
    };
    node.view.promised.cpu = MilliCores(1000);
    node.view.promised.memory = Bytes(2_000_000_000);
    assert_eq!(cores(&node), 1.5);
    assert_eq!(megabytes(&node), 3000.0);
    let scratch = capacity(&node).disk.unwrap().scratch_gb.unwrap();
    assert_eq!(scratch.get(), 25.0);
}

#[test]
fn what_jobs_use_of_their_promise_is_taken_once() {
    let mut node = node();
    node.view.promised = Promised {
        cpu: MilliCores(2000),
        cpu_used: MilliCores(1000),
        memory: Bytes(3_000_000_000),
        memory_used: Bytes(2_000_000_000),
    };
    // The busy core and the 2 GB in use are the jobs' own.
    assert_eq!(cores(&node), 2.0);
    assert_eq!(megabytes(&node), 5000.0);
}

#[test]
fn no_promise_or_reserve_makes_less_than_nothing() {
    let mut node = node();
    node.view.promised.cpu = MilliCores(u64::MAX);
    node.plan.reserve.memory = Bytes(u64::MAX);
    assert_eq!((cores(&node), megabytes(&node)), (0.0, 0.0));
    assert_eq!(workers(&node, "function"), Some(0));
}

#[test]
fn slots_that_memory_cannot_hold_now_are_not_offered() {
    let mut node = node();
    node.slots("function", 20);
    assert_eq!(workers(&node, "function"), Some(6));
}

#[test]
fn the_largest_card_that_no_job_holds_is_offered() {
    let mut node = node();
    let model = |node: &Fixture| capacity(node).gpu?.model;
    assert_eq!(model(&node), Some("Card of 6".to_owned()));
    node.view.leased_gpus.insert("GPU-b".to_owned());
    assert_eq!(model(&node), Some("Card of 4".to_owned()));
    node.view.leased_gpus.insert("GPU-a".to_owned());
    assert_eq!(model(&node), None);
}

#[test]
fn what_was_not_measured_is_absent_and_said() {
    let mut node = node();
    node.snapshot.cpu = None;
    node.snapshot.gpus.clear();
    let text = "has not answered for 8.0 s".to_owned();
    let hangs = |resource| Remark { resource, text: text.clone() };
    node.snapshot.warnings = vec![hangs(Resource::Cpu), hangs(Resource::Gpu)];
    let found = statements(&node.facts(now())).remove(0);
    let capacity = found.offer.capacity.unwrap();
    assert_eq!((capacity.cpu, capacity.gpu), (None, None));
    assert!(capacity.memory.is_some());
    assert_eq!(found.offer.health.status, HealthStatus::Degraded);
    let codes: Vec<_> = found.reasons.iter().map(|r| r.code.as_str()).collect();
    assert_eq!(codes, ["unmeasured", "gpu_driver"]);
    assert_eq!(capabilities(&offer(&node)), ["worker:function"]);
}

#[test]
fn old_samples_are_offered_no_more_and_the_offer_is_of_now() {
    let mut node = node();
    node.snapshot.taken = BootMs(54_999);
    node.snapshot.at = Timestamp(MOMENT - 5001);
    let offer = offer(&node);
    assert_eq!(offer.updated_at, Timestamp(MOMENT));
    assert_eq!(offer.health.status, HealthStatus::Degraded);
    let capacity = offer.capacity.unwrap();
    assert_eq!((capacity.cpu, capacity.memory), (None, None));
    assert_eq!(capacity.workers.unwrap()["function"], 2);
}

#[test]
fn a_class_is_offered_only_once_its_probe_passed() {
    let mut node = node();
    let class = node.view.classes.get_mut(&RuntimeClass::Function);
    class.unwrap().offered = false;
    assert_eq!(workers(&node, "function"), Some(0));
    assert_eq!(capabilities(&offer(&node)), Vec::<&str>::new());
}

#[test]
fn the_owner_may_declare_anything_but_a_reserved_word() {
    let mut node = node();
    let said = |text: &str| Capability::try_from(text.to_owned()).unwrap();
    let who = &mut node.plan.identity;
    who.capabilities = vec![said("worker:gpu"), said("worker:ffmpeg")];
    who.workers = [("gpu", 9), ("ffmpeg", 3)]
        .map(|(kind, n)| (kind.to_owned(), n))
        .into();
    let offered = offer(&node);
    let expected = ["worker:function", "worker:ffmpeg"];
    assert_eq!(capabilities(&offered), expected);
    assert_eq!(workers(&node, "ffmpeg"), Some(3));
    assert_eq!(workers(&node, "gpu"), None);
}

#[test]
fn a_draining_node_keeps_its_capabilities_and_has_no_slot() {
    let mut node = node();
    let finding = Finding::new(Condition::Draining, "asked to");
    node.view.findings.push(finding);
    let offer = offer(&node);
    assert_eq!(offer.health.status, HealthStatus::Draining);
    assert_eq!(capabilities(&offer), ["worker:function"]);
    assert_eq!(workers(&node, "function"), Some(0));
}

#[test]
fn a_runtime_offer_has_no_worker_and_no_figures() {
    let mut node = node();
    node.runtime("small");
    let availability = |node: &Fixture| {
        let offer = statements(&node.facts(now())).remove(1).offer;
        let json = String::from_utf8(offer.to_json()).unwrap();
        assert_eq!(validate("resource-offer", &json), Ok(()), "{json}");
        assert_eq!(offer.offer_id, "off_n1_runtime_small");
        assert_eq!((&offer.capacity, offer.capabilities.len()), (&None, 0));
        let OfferKind::Runtime(detail) = offer.kind else {
            panic!("not a runtime's");
        };
        detail.availability.as_str()
    };
    assert_eq!(availability(&node), "available");
    node.slots("function", 0);
    assert_eq!(availability(&node), "limited");
    node.view.findings.push(Finding::new(Condition::Paused, "by the owner"));
    assert_eq!(availability(&node), "unavailable");
}

/// A clock that follows the runtime's own.
struct Follows(Instant);

impl Clock for Follows {
    fn now(&self) -> Now {
        let ms = u64::try_from(self.0.elapsed().as_millis()).unwrap();
        let wall = Timestamp(MOMENT + ms);
        Now { wall, boot: BootMs(ms), ..Now::default() }
    }
}

struct Running {
    views: watch::Sender<JobView>,
    heard: mpsc::Receiver<Vec<Statement>>,
    tracker: TaskTracker,
    stop: CancellationToken,
}

const LONG: Duration = Duration::from_secs(600);

impl Running {
    /// Hands its statements to `out` before they are heard here.
    fn on(node: Fixture, out: impl Fn() + Send + Sync + 'static) -> Self {
        let (snapshot, snapshots) = watch::channel(node.snapshot);
        drop(snapshot); // The sampling task ended: offers go on.
        let (views, viewed) = watch::channel(node.view);
        let (said, heard) = mpsc::channel(64);
        let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
        let say = move |offers: Vec<Statement>| {
            out();
            said.try_send(offers).unwrap();
        };
        let out: Arc<dyn Say> = Arc::new(say);
        let parts = OfferParts {
            plan: Arc::new(node.plan),
            snapshots,
            views: viewed,
            latencies: Latencies::default(),
            clock: Arc::new(Follows(Instant::now())),
            out,
        };
        parts.latencies.record(Operation::Ack, Duration::from_millis(1));
        start(parts, &tracker, stop.clone());
        Self { views, heard, tracker, stop }
    }

    async fn hears(&mut self) -> Statement {
        let heard = timeout(LONG, self.heard.recv()).await.unwrap();
        heard.unwrap().remove(0)
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_of_health_is_heard_at_once_and_the_last_word_is_down() {
    let mut node = Running::on(Fixture::new(), || {});
    let begun = Instant::now();
    // Nothing was measured yet, and that is said rather than waited for.
    let first = node.hears().await.offer;
    assert_eq!(first.health.status, HealthStatus::Degraded);
    assert!(first.latency_ms.unwrap().contains_key("ack_p50"));
    node.views.send_modify(|view| {
        view.error_rate = Ratio::clamped(0.5);
        view.findings.push(Finding::new(Condition::Paused, "by the owner"));
    });
    let paused = node.hears().await.offer;
    assert_eq!(paused.health.status, HealthStatus::Draining);
    assert_eq!(begun.elapsed(), Duration::ZERO);
    node.hears().await;
    let waited = begun.elapsed();
    assert!((9..=11).contains(&waited.as_secs()), "{waited:?}");
    node.stop.cancel();
    let last = node.hears().await.offer;
    assert_eq!(last.health.status, HealthStatus::Down);
    node.tracker.close();
    timeout(LONG, node.tracker.wait()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_speaking_costs_one_offer_not_the_rest() {
    let calls = AtomicU32::new(0);
    let mut node = Running::on(Fixture::new(), move || {
        let first = calls.fetch_add(1, Ordering::SeqCst) == 0;
        assert!(!first, "the first publish panics");
    });
    let begun = Instant::now();
    node.hears().await;
    assert_eq!(begun.elapsed().as_secs(), 1);
    node.stop.cancel();
    node.hears().await;
}
