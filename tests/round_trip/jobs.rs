use super::{form, job_id, one_of, text};
use ovnode::contract::{
    Answer, ArtifactRef, Bytes, Exit, ExitReason, FaultCode, Input, Job,
    JobEvent, Limits, NetPolicy, RuntimeClass, Timestamp, Usage,
};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::{Just, Strategy, any, prop, prop_oneof};
use serde_json::{Map, Value};
use std::time::Duration;

/// Any JSON value, a few levels deep.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(text(), inner, 0..4)
                .prop_map(|map| Value::Object(Map::from_iter(map))),
        ]
    })
}

fn input() -> impl Strategy<Value = Input> {
    let parts = (
        form("[A-Za-z0-9][A-Za-z0-9._-]{0,20}"),
        form("med_[0-9A-HJKMNP-TV-Z]{26}"),
        form("[0-9a-f]{64}"),
        of(any::<u64>().prop_map(Bytes)),
    );
    parts.prop_map(|(name, media_id, sha256, size)| Input {
        name,
        media_id,
        sha256,
        size,
    })
}

pub(super) fn job() -> impl Strategy<Value = Job> {
    let span = || (1..=u64::MAX).prop_map(Duration::from_millis);
    let limits =
        (span(), span(), 1..=u64::MAX).prop_map(|(wall, cpu, memory)| Limits {
            wall,
            cpu,
            memory: Bytes(memory),
        });
    let nets = [NetPolicy::Deny, NetPolicy::OpenvibeOnly, NetPolicy::Public];
    let args = btree_map(text(), json(), 0..3).prop_map(Map::from_iter);
    let artifact = ("[a-z0-9][a-z0-9._-]{0,9}", "[0-9A-Z][0-9a-z.+-]{0,9}")
        .prop_map(|(name, version)| ArtifactRef::new(name, version).ok());
    let parts = (
        (job_id(), one_of(RuntimeClass::ALL), artifact),
        args,
        (span(), limits),
        one_of(nets),
        vec(input(), 0..3),
    );
    parts.prop_map(
        |((id, class, artifact), args, (ttl, limits), net, inputs)| Job {
            id,
            class,
            artifact,
            args,
            ttl,
            limits,
            net,
            inputs,
        },
    )
}

fn usage() -> impl Strategy<Value = Usage> {
    let measured = (of(any::<u64>()), of(any::<u64>()));
    let times = of((any::<u64>(), any::<u64>()));
    (times, measured).prop_map(|(times, (cpu_ms, mem_peak_bytes))| Usage {
        started_ms: times.map(|(at, _)| Timestamp(at)),
        wall_ms: times.map_or(0, |(_, wall)| wall),
        cpu_ms,
        mem_peak_bytes,
    })
}

pub(super) fn event() -> impl Strategy<Value = JobEvent> {
    let ms = || any::<u64>().prop_map(Timestamp);
    let exit = (one_of(ExitReason::ALL), of(any::<i64>()), json(), usage());
    prop_oneof![
        ms().prop_map(|started_ms| JobEvent::Started { started_ms }),
        (1..=u64::MAX, text()).prop_map(|(chunk_seq, chunk)| {
            JobEvent::Stdout { chunk_seq, chunk }
        }),
        (ms(), any::<u64>(), of(any::<u64>())).prop_map(
            |(started_ms, second, cpu_ms)| JobEvent::Usage {
                started_ms,
                second,
                cpu_ms,
            }
        ),
        exit.prop_map(|(reason, code, result, usage)| {
            JobEvent::Exit(Exit { reason, code, result, usage })
        }),
    ]
}

pub(super) fn answer() -> impl Strategy<Value = Answer> {
    let head = || (any::<u64>(), any::<u64>().prop_map(Timestamp));
    prop_oneof![
        (head(), job_id()).prop_map(|((seq, ts), id)| Answer::Ack {
            seq,
            ts,
            id
        }),
        (head(), of(text()), one_of(FaultCode::ALL), text()).prop_map(
            |((seq, ts), id, code, message)| {
                Answer::Nack { seq, ts, id, code, message }
            }
        ),
    ]
}
