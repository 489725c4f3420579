use super::details::kind;
use super::{amount, form, moment, one_of, ratio, text};
use ovnode::contract::{
    Capability, Capacity, Cpu, Health, HealthStatus, Pricing, PricingModel,
    Queue, ResourceOffer, Trust,
};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::{Strategy, any};

fn capacity() -> impl Strategy<Value = Capacity> {
    let cpu = (of(ratio()), of(amount())).prop_map(
        |(utilization, available_cores)| Cpu { utilization, available_cores },
    );
    let queue = (of(any::<u64>()), of(amount()))
        .prop_map(|(depth, oldest_ms)| Queue { depth, oldest_ms });
    let workers = btree_map(text(), any::<u64>(), 0..3);
    let queues = btree_map(text(), queue, 0..3);
    let parts = (of(cpu), of(workers), of(queues), of(amount()));
    parts.prop_map(|(cpu, workers, queues, event_loop_lag_ms)| Capacity {
        cpu,
        workers,
        queues,
        event_loop_lag_ms,
        ..Capacity::default()
    })
}

fn health() -> impl Strategy<Value = Health> {
    let parts = (one_of(HealthStatus::ALL), of(ratio()), of(moment()));
    parts.prop_map(|(status, error_rate, checked_at)| Health {
        status,
        error_rate,
        checked_at,
    })
}

fn pricing() -> impl Strategy<Value = Pricing> {
    let parts = (one_of(PricingModel::ALL), of(amount()), of(text()));
    parts.prop_map(|(model, marginal_usd_per_unit, unit)| Pricing {
        model,
        marginal_usd_per_unit,
        rate_card: unit.clone(),
        unit,
    })
}

pub(super) fn offer() -> impl Strategy<Value = ResourceOffer> {
    let capability = form::<Capability>("[a-z][a-z0-9-]{0,9}:[a-z0-9.-]{1,9}");
    let parts = (
        (text(), of(text()), moment()),
        (kind(), one_of(Trust::ALL)),
        vec(capability, 0..4),
        (of(capacity()), of(btree_map(text(), amount(), 0..3))),
        (health(), pricing()),
    );
    parts.prop_map(|(texts, (kind, trust), capabilities, free, state)| {
        let (offer_id, maybe, updated_at) = texts;
        ResourceOffer {
            region: offer_id.clone(),
            offer_id,
            kind,
            node_id: maybe.clone(),
            provider: maybe.clone(),
            adapter: maybe.clone(),
            cell: maybe,
            trust,
            capabilities,
            capacity: free.0,
            latency_ms: free.1,
            health: state.0,
            pricing: state.1,
            updated_at,
        }
    })
}
