use crate::contract::{
    Amount, JobId, NodeId, RuntimeClass, Timestamp, UsageSample,
};

/// What a job is billed for: one sample for every second, and one for what is
/// left of the last. A pure function of what its frames said, so that a
/// sample derived twice is the same sample.
pub fn usage_samples(
    (job, class): (&JobId, RuntimeClass),
    node: &NodeId,
    started_ms: Timestamp,
    wall_ms: u64,
) -> impl Iterator<Item = UsageSample> {
    let seconds = (0..wall_ms / 1000).map(|n| (n, 1000));
    let rest = wall_ms % 1000;
    let last = (rest > 0).then_some((wall_ms / 1000, rest));
    seconds.chain(last).map(move |(n, ms)| {
        let key = format!("run:{job}:{n}");
        UsageSample {
            id: key.clone(),
            idempotency_key: key,
            service: "run".to_owned(),
            project: None,
            subject: None,
            resource: Some(job.as_str().to_owned()),
            provider: None,
            node: Some(node.as_str().to_owned()),
            cell: None,
            region: None,
            operation: operation(class),
            // At most 1000, so exact.
            quantity: Amount::clamped(ms as f64 / 1e3).unwrap_or_default(),
            unit: "s".to_owned(),
            at: Timestamp(started_ms.0.saturating_add(n * 1000)),
            cost_estimate: None,
            free_allowance_used: None,
            vibes_charged: None,
            route_epoch: None,
            trace_id: None,
            source: "openvibe-node.worker".to_owned(),
        }
    })
}

fn operation(class: RuntimeClass) -> String {
    match class {
        RuntimeClass::Function => "function.invoke".to_owned(),
        RuntimeClass::Code
        | RuntimeClass::Browser
        | RuntimeClass::Linux
        | RuntimeClass::Desktop
        | RuntimeClass::Gpu => format!("{class}.run"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::testing::{START, job_id};
    use proptest::prelude::*;

    fn samples(class: RuntimeClass, wall_ms: u64) -> Vec<UsageSample> {
        let node: NodeId = "node_1".to_owned().try_into().unwrap();
        let job = job_id(0, 1);
        usage_samples((&job, class), &node, Timestamp(START), wall_ms).collect()
    }

    #[test]
    fn every_second_is_a_sample_and_so_is_the_rest() {
        let found = samples(RuntimeClass::Function, 2_250);
        let said: Vec<_> = found
            .iter()
            .map(|s| (s.at.0 - START, s.quantity.get(), s.id.as_str()))
            .collect();
        let id = job_id(0, 1);
        let key = |n| format!("run:{id}:{n}");
        assert_eq!(
            said,
            [
                (0, 1.0, &*key(0)),
                (1_000, 1.0, &*key(1)),
                (2_000, 0.25, &*key(2)),
            ]
        );
        assert_eq!(found[0].operation, "function.invoke");
        assert_eq!(samples(RuntimeClass::Gpu, 1)[0].operation, "gpu.run");
        assert_eq!(samples(RuntimeClass::Code, 3_000).len(), 3);
        assert_eq!(samples(RuntimeClass::Code, 0), []);
    }

    proptest! {
        #[test]
        fn samples_add_up_to_the_wall_time(wall_ms in 0_u64..100_000) {
            let all = samples(RuntimeClass::Function, wall_ms);
            let sum: f64 = all.iter().map(|s| s.quantity.get() * 1e3).sum();
            prop_assert!((sum - wall_ms as f64).abs() < 1e-3);
        }
    }
}
