//! What a document costs: an offer checked, a job's frame read, a chunk of
//! output written.
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ovnode::contract::{
    Envelope, EnvelopeBody, Job, JobEvent, JobFrame, JobId, ResourceOffer,
    Timestamp,
};
use std::hint::black_box;

/// An offer as a node of every class says it.
const OFFER: &str = r#"{
    "offer_id": "off_node_01JAB2C3D4E5F6G7H8J9K0MNPQ_node", "kind": "node",
    "node_id": "node_01JAB2C3D4E5F6G7H8J9K0MNPQ", "provider": "someone",
    "region": "eu-central", "cell": "a", "trust": "user-owned",
    "capabilities": ["worker:function", "worker:code", "worker:browser",
        "worker:linux", "worker:desktop", "worker:gpu", "node:http"],
    "capacity": {
        "cpu": {"utilization": 0.25, "available_cores": 11.5},
        "memory": {"utilization": 0.4, "available_mb": 48210.123},
        "network": {"ingress_mbps": 1.5, "egress_mbps": 0.2,
            "available_mbps": 998.3},
        "disk": {"iops_available": 8000, "scratch_gb": 210.7,
            "utilization": 0.6},
        "gpu": {"type": "NVIDIA H200", "vram_free_mb": 141000,
            "utilization": 0},
        "workers": {"function": 8, "code": 4, "browser": 2, "linux": 2,
            "desktop": 1, "gpu": 1},
        "queues": {"code": {"depth": 3, "oldest_ms": 120.5}},
        "event_loop_lag_ms": 0.3
    },
    "latency_ms": {"publish_p50": 0.4, "publish_p95": 2.1, "ack_p50": 1.1,
        "ack_p95": 4.9, "start_code_p50": 210.0, "start_code_p95": 480.2},
    "health": {"status": "up", "error_rate": 0.01,
        "checked_at": "2026-03-01T12:00:00.000Z"},
    "pricing": {"model": "free-allowance"},
    "updated_at": "2026-03-01T12:00:10.250Z"
}"#;

const JOB: &str = r#"{
    "v": 1, "seq": 1, "ts": 1772366400000, "type": "job", "job": {
        "id": "job_01JAB2C3D4E5F6G7H8J9K0MNPQ", "class": "code",
        "artifact": {"name": "python", "version": "3.11.2"},
        "args": {"source": "print('hello')", "argv": ["-v", "--fast"]},
        "ttl_ms": 60000, "net": "deny",
        "limits": {"wall_ms": 30000, "cpu_ms": 30000,
            "mem_bytes": 268435456}
    }
}"#;

fn check_an_offer(c: &mut Criterion) {
    let mut group = c.benchmark_group("contract");
    group.throughput(Throughput::Elements(1));
    group.bench_function("check an offer", |b| {
        b.iter(|| ResourceOffer::parse(black_box(OFFER.as_bytes())));
    });
    group.finish();
}

fn read_a_job(c: &mut Criterion) {
    c.bench_function("contract/read a job's frame", |b| {
        b.iter(|| {
            let frame = Envelope::parse(black_box(JOB.as_bytes())).ok()?;
            let EnvelopeBody::Job(job) = frame.body else { return None };
            Job::parse(&job).ok()
        });
    });
}

fn write_a_chunk(c: &mut Criterion) {
    // Lines as programs print them: some of each must be escaped.
    let line = "INFO served \"/index.html\" in 12 ms – ok\n";
    let chunk: String = line.chars().cycle().take(16 * 1024 - 800).collect();
    let id = JobId::try_from("job_01JAB2C3D4E5F6G7H8J9K0MNPQ".to_owned());
    let mut group = c.benchmark_group("contract");
    group.throughput(Throughput::Bytes(chunk.len() as u64));
    let frame = JobFrame {
        seq: 7,
        ts: Timestamp(1_772_366_400_000),
        id: id.expect("a job id"),
        event: JobEvent::Stdout { chunk_seq: 6, chunk },
    };
    group.bench_function("write a chunk of 16 KiB", |b| {
        b.iter(|| black_box(&frame).to_json());
    });
    group.finish();
}

criterion_group!(benches, check_an_offer, read_a_job, write_a_chunk);
criterion_main!(benches);
