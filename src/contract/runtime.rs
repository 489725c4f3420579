use super::Amount;
use super::read::{At, Read, document, fields};
use super::words::words;
use serde::Serialize;

/// A runtime on offer (`platform.runtime-offer@1`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuntimeOffer {
    /// Its id.
    pub id: String,
    /// What it runs things in.
    pub kind: RuntimeKind,
    /// Where it stands.
    pub region: String,
    /// On which node.
    pub node: String,
    /// What one run may have.
    pub limits: RuntimeLimits,
    /// What it costs.
    pub price: RuntimePrice,
    /// Whether it can be had.
    pub availability: Availability,
    /// Whatever else binds it, in words.
    pub constraints: Vec<String>,
}

document!(RuntimeOffer);

words! {
    /// What a runtime runs things in.
    RuntimeKind {
        /// A container.
        Container = "container",
        /// A process of the node.
        Process = "process",
        /// A WebAssembly module.
        Wasm = "wasm",
        /// A virtual machine.
        Vm = "vm",
        /// A function.
        Function = "function",
    }
}

/// What one run of a runtime may have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RuntimeLimits {
    /// Processor.
    pub cpu_cores: Amount,
    /// Megabytes of a million bytes.
    pub memory_mb: u64,
    /// Time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_seconds: Option<u64>,
    /// Runs at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u64>,
}

/// What a runtime costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RuntimePrice {
    /// Dollars a unit.
    pub amount_usd: Amount,
    /// The unit.
    pub unit: PriceUnit,
}

words! {
    /// What a runtime's price is counted by.
    PriceUnit {
        /// A second of running.
        Second = "second",
        /// An hour of running.
        Hour = "hour",
        /// A run.
        Invocation = "invocation",
    }
}

words! {
    /// Whether something can be had.
    Availability {
        /// It can.
        Available = "available",
        /// In part.
        Limited = "limited",
        /// It cannot.
        Unavailable = "unavailable",
    }
}

impl Read for RuntimeOffer {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            id: need,
            kind: need,
            region: need,
            node: need,
            limits: need,
            price: need,
            availability: need,
            constraints: need,
        })
    }
}

impl Read for RuntimeLimits {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            cpu_cores: need,
            memory_mb: need,
            duration_seconds: may,
            concurrency: may,
        })
    }
}

impl Read for RuntimePrice {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self { amount_usd: need, unit: need })
    }
}
