use super::read::{At, Read, document, fields};
use super::{Amount, Timestamp};
use serde::Serialize;

/// An agent on offer (`platform.agent-offer@1`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentOffer {
    /// Its id.
    pub id: String,
    /// The harness it runs in.
    pub harness: String,
    /// Whose model it is.
    pub provider: String,
    /// Which model.
    pub model: String,
    /// How much it can hold.
    pub context_limits: ContextLimits,
    /// Runs at once.
    pub concurrency: u64,
    /// What it costs.
    pub price_per_1k_tokens: TokenPrices,
    /// When it can be had.
    pub availability_windows: Vec<Window>,
}

document!(AgentOffer);

/// How much a model can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ContextLimits {
    /// It reads.
    pub input_tokens: u64,
    /// It writes.
    pub output_tokens: u64,
}

/// What a thousand tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TokenPrices {
    /// Read for the first time.
    pub fresh_usd: Amount,
    /// Read again.
    pub cached_usd: Amount,
    /// Written.
    pub output_usd: Amount,
}

/// A time in which something can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Window {
    /// From.
    #[serde(serialize_with = "Timestamp::write_rfc3339")]
    pub start: Timestamp,
    /// To.
    #[serde(serialize_with = "Timestamp::write_rfc3339")]
    pub end: Timestamp,
}

impl Read for AgentOffer {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            id: need,
            harness: need,
            provider: need,
            model: need,
            context_limits: need,
            concurrency: need,
            price_per_1k_tokens: need,
            availability_windows: need,
        })
    }
}

impl Read for ContextLimits {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self { input_tokens: need, output_tokens: need })
    }
}

impl Read for TokenPrices {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            fresh_usd: need,
            cached_usd: need,
            output_usd: need,
        })
    }
}

impl Read for Window {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            start: need_with (Timestamp::read_rfc3339),
            end: need_with (Timestamp::read_rfc3339),
        })
    }
}
