use super::Amount;
use super::read::{At, Read, document, fields, one_or_more};
use super::words::words;
use serde::Serialize;
use std::collections::BTreeSet;

/// Delivery on offer (`platform.delivery-offer@1`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeliveryOffer {
    /// Its id.
    pub id: String,
    /// By which protocols; one at least.
    pub transports: BTreeSet<Transport>,
    /// Where to; one at least.
    pub regions: Vec<String>,
    /// Whether it stands at the edge.
    pub edge: bool,
    /// On which node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Of bytes.
    pub price_per_gb_usd: Amount,
    /// Of requests.
    pub price_per_request_usd: Amount,
    /// What it caches.
    pub cache_rules: CacheRules,
}

document!(DeliveryOffer);

words! {
    /// A protocol of delivery.
    Transport {
        /// Plain HTTP.
        Http = "http",
        /// HTTP Live Streaming.
        Hls = "hls",
        /// Real-Time Messaging Protocol.
        Rtmp = "rtmp",
        /// Secure Reliable Transport.
        Srt = "srt",
        /// WebSocket.
        Ws = "ws",
    }
}

/// What a delivery caches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CacheRules {
    /// Whether it does.
    pub enabled: bool,
    /// For how long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u64>,
    /// Objects up to this size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_object_mb: Option<Amount>,
}

impl Read for DeliveryOffer {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            id: need,
            transports: need_with (one_or_more),
            regions: need_with (one_or_more),
            edge: need,
            node: may,
            price_per_gb_usd: need,
            price_per_request_usd: need,
            cache_rules: need,
        })
    }
}

impl Read for CacheRules {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            enabled: need,
            ttl_seconds: may,
            max_object_mb: may,
        })
    }
}
