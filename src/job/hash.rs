use crate::contract::{Job, NetPolicy};
use serde_json::json;
use sha2::{Digest, Sha256};

/// SHA-256 of a parsed job, hex: equal for jobs that mean the same, however
/// they were written (order of keys, defaults left out or spelled out).
pub(crate) fn of(job: &Job) -> String {
    let net = match job.net {
        NetPolicy::Deny => "deny",
        NetPolicy::OpenvibeOnly => "openvibe-only",
        NetPolicy::Public => "public",
    };
    let artifact = job.artifact.as_ref().map(|a| [&a.name, &a.version]);
    let inputs: Vec<_> = job
        .inputs
        .iter()
        .map(|i| json!([i.name, i.media_id, i.sha256, i.size.map(|b| b.0)]))
        .collect();
    let nanos = |span: std::time::Duration| span.as_nanos().to_string();
    let limits = job.limits;
    let whole = json!([
        job.id.as_str(),
        job.class.as_str(),
        artifact,
        job.args,
        nanos(job.ttl),
        [nanos(limits.wall), nanos(limits.cpu)],
        limits.memory.0,
        net,
        inputs,
    ]);
    hex(&Sha256::digest(whole.to_string()))
}

fn hex(bytes: &[u8]) -> String {
    let digit = |n: u8| char::from_digit(n.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect()
}
