use super::{amount, form, moment, one_of, ratio, text};
use ovnode::contract::{
    AddressKind, AgentOffer, Availability, CacheRules, ContextLimits,
    DeliveryOffer, Durability, HarnessAddress, HarnessCapabilities,
    HarnessLimits, HarnessOffer, HarnessPrice, LifecycleAction, LifecycleRule,
    OfferKind, PriceUnit, RuntimeClass, RuntimeKind, RuntimeLimits,
    RuntimeNeed, RuntimeOffer, RuntimePrice, StorageClass, StorageOffer,
    TaskCapability, TokenPrices, Transport, Window,
};
use proptest::collection::{btree_set, vec};
use proptest::option::of;
use proptest::prelude::{Just, Strategy, any, prop_oneof};

fn storage() -> impl Strategy<Value = OfferKind> {
    let rule =
        (
            any::<u64>(),
            one_of(LifecycleAction::ALL),
            of(one_of(StorageClass::ALL)),
        )
            .prop_map(|(after_days, action, target_class)| {
                LifecycleRule { after_days, action, target_class }
            });
    let durability =
        (any::<u64>(), of(amount())).prop_map(|(replicas, target_nines)| {
            Durability { replicas, target_nines }
        });
    let prices = (amount(), amount(), amount());
    let parts = (
        text(),
        one_of(StorageClass::ALL),
        prices,
        durability,
        vec(rule, 0..3),
    );
    parts.prop_map(|(id, class, prices, durability, lifecycle_rules)| {
        OfferKind::Storage(Box::new(StorageOffer {
            region: id.clone(),
            node: id.clone(),
            id,
            class,
            capacity_gb: prices.0,
            price_per_gb_month_usd: prices.1,
            price_per_operation_usd: prices.2,
            durability,
            lifecycle_rules,
        }))
    })
}

fn delivery() -> impl Strategy<Value = OfferKind> {
    let transports = btree_set(one_of(Transport::ALL), 1..5);
    let cache_rules = (any::<bool>(), of(any::<u64>()), of(amount())).prop_map(
        |(enabled, ttl_seconds, max_object_mb)| CacheRules {
            enabled,
            ttl_seconds,
            max_object_mb,
        },
    );
    let parts = (
        of(text()),
        transports,
        vec(text(), 1..3),
        (amount(), amount()),
        cache_rules,
    );
    parts.prop_map(|(node, transports, regions, prices, cache_rules)| {
        OfferKind::Delivery(Box::new(DeliveryOffer {
            id: "d".to_owned(),
            transports,
            regions,
            edge: cache_rules.enabled,
            node,
            price_per_gb_usd: prices.0,
            price_per_request_usd: prices.1,
            cache_rules,
        }))
    })
}

fn runtime() -> impl Strategy<Value = OfferKind> {
    let limits = (amount(), any::<u64>(), of(any::<u64>()), of(any::<u64>()))
        .prop_map(|(cpu_cores, memory_mb, duration_seconds, concurrency)| {
            RuntimeLimits {
                cpu_cores,
                memory_mb,
                duration_seconds,
                concurrency,
            }
        });
    let price = (amount(), one_of(PriceUnit::ALL))
        .prop_map(|(amount_usd, unit)| RuntimePrice { amount_usd, unit });
    let words = (one_of(RuntimeKind::ALL), one_of(Availability::ALL));
    let parts = (text(), words, limits, price, vec(text(), 0..3));
    parts.prop_map(|(id, (kind, availability), limits, price, constraints)| {
        OfferKind::Runtime(Box::new(RuntimeOffer {
            region: id.clone(),
            node: id.clone(),
            id,
            kind,
            limits,
            price,
            availability,
            constraints,
        }))
    })
}

fn agent() -> impl Strategy<Value = OfferKind> {
    let window =
        (moment(), moment()).prop_map(|(start, end)| Window { start, end });
    let prices =
        (amount(), amount(), amount()).prop_map(|prices| TokenPrices {
            fresh_usd: prices.0,
            cached_usd: prices.1,
            output_usd: prices.2,
        });
    let parts = (text(), any::<[u64; 3]>(), prices, vec(window, 0..3));
    parts.prop_map(|(id, counts, price_per_1k_tokens, windows)| {
        OfferKind::Agent(Box::new(AgentOffer {
            harness: id.clone(),
            provider: id.clone(),
            model: id.clone(),
            id,
            context_limits: ContextLimits {
                input_tokens: counts[0],
                output_tokens: counts[1],
            },
            concurrency: counts[2],
            price_per_1k_tokens,
            availability_windows: windows,
        }))
    })
}

fn harness_capabilities() -> impl Strategy<Value = HarnessCapabilities> {
    let parts = (
        any::<[bool; 4]>(),
        any::<[Option<bool>; 6]>(),
        of(btree_set(one_of(RuntimeClass::ALL), 0..6)),
    );
    parts.prop_map(|(must, may, runtimes)| HarnessCapabilities {
        host_access: must[0],
        mcp: must[1],
        long_autonomy: must[2],
        resume: must[3],
        edit: may[0],
        review: may[1],
        tools: may[2],
        vision: may[3],
        browser: may[4],
        computer_use: may[5],
        runtimes,
    })
}

fn harness() -> impl Strategy<Value = OfferKind> {
    let needs = form::<RuntimeNeed>("[a-z][a-z0-9.-]{0,39}");
    let parts = (
        (text(), one_of(AddressKind::ALL), amount()),
        harness_capabilities(),
        (any::<[u64; 2]>(), of(any::<u64>())),
        of(btree_set(one_of(TaskCapability::ALL), 0..6)),
        (of(btree_set(needs, 0..3)), of(any::<bool>()), of(ratio())),
    );
    parts.prop_map(
        |((id, kind, amount_usd), capabilities, limits, tasks, rest)| {
            OfferKind::Harness(Box::new(HarnessOffer {
                name: id.clone(),
                provider: id.clone(),
                address: HarnessAddress { kind, target: id.clone() },
                price: HarnessPrice { amount_usd, unit: id.clone() },
                id,
                capabilities,
                limits: HarnessLimits {
                    max_duration_seconds: limits.0[0],
                    max_concurrent_runs: limits.0[1],
                    max_context_tokens: limits.1,
                },
                task_capabilities: tasks,
                runtime_needs: rest.0,
                byo_key: rest.1,
                success_rate: rest.2,
            }))
        },
    )
}

pub(super) fn kind() -> impl Strategy<Value = OfferKind> {
    prop_oneof![
        Just(OfferKind::Node),
        Just(OfferKind::Provider),
        storage(),
        delivery(),
        runtime(),
        agent(),
        harness(),
    ]
}
