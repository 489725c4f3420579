//! The platform's documents as types that cannot hold a wrong value, and the
//! words (subjects, units, ids, reasons) that every other room speaks.
//!
//! Everything is parsed once, at the door: whoever holds a [`Job`] never asks
//! again whether its id is well formed. Nothing here does I/O or reads a
//! clock.
mod agent; // an agent on offer
mod answer; // ack and nack
mod canonical; // JSON by what it means
mod capabilities; // what a machine is, said once
mod capacity; // what of an offer is free
mod class; // the six runtime classes
mod delivery; // delivery on offer
mod envelope; // what a dispatcher sends, its job not yet judged
mod fault; // what is wrong with a document, and where
mod forms; // the contracts' patterns
mod frame; // what a node says about a job
mod harness; // a coding agent on offer
mod ids; // ids and NATS tokens
mod job; // what a dispatcher wants run
mod offer; // what a node can run right now
mod read; // how every document is read
mod reason; // the closed list behind `Ov-Reason`
mod runtime; // a runtime on offer
mod status; // what a node says of itself to people and programs
mod storage; // storage on offer
mod subject; // where on NATS
mod time; // wall time and the two clocks of the kernel
mod units; // bytes, ratios, cores
mod usage; // one thing used, as it is billed
mod validate; // any document by its contract's name
mod words; // enums that are closed lists of words
pub use agent::{AgentOffer, ContextLimits, TokenPrices, Window};
pub use answer::{Answer, AnswerType, FaultCode};
pub use capabilities::{
    Capability, NodeCapabilities, NodeCosts, NodeCpu, NodeGpu, NodeNetwork,
    NodeStorage,
};
pub use capacity::{Capacity, Cpu, Disk, Gpu, Memory, Network, Queue};
pub use class::RuntimeClass;
pub use delivery::{CacheRules, DeliveryOffer, Transport};
pub use envelope::{Envelope, EnvelopeBody, EnvelopeFault};
pub use fault::{Fault, FaultKind, Faults};
pub use frame::{Exit, ExitReason, FrameType, JobEvent, JobFrame, Usage};
pub use harness::{
    AddressKind, HarnessAddress, HarnessCapabilities, HarnessLimits,
    HarnessOffer, HarnessPrice, RuntimeNeed, TaskCapability,
};
pub use ids::{
    ArtifactRef, BadId, DispatcherId, InputName, JobId, MediaId, NodeId,
    Sha256Hex, Token,
};
pub use job::{Input, Job, Limits, NetPolicy};
pub use offer::{
    Health, HealthStatus, OfferKind, OfferKindName, Pricing, PricingModel,
    ResourceOffer, Trust,
};
pub use reason::{Reason, ReasonCode};
pub use runtime::{
    Availability, PriceUnit, RuntimeKind, RuntimeLimits, RuntimeOffer,
    RuntimePrice,
};
pub use status::{
    CapacityReport, ClassReport, CpuReport, DiskReport, EngineReport,
    EngineState, ExitReport, GpuReport, HealthReport, JobDocument,
    JobLimitsReport, JobList, JobPhase, JobReport, JobUseReport, JobsReport,
    LinkReport, MemoryReport, NetworkReport, NodeReport, OfferReport,
    ProbeReport, ReasonReport, RefusalReport, StatusDocument, Word,
};
pub use storage::{
    Durability, LifecycleAction, LifecycleRule, StorageClass, StorageOffer,
};
pub use subject::{AskKind, SELF, Subjects};
pub use time::{BootMs, Clock, MonoMs, Now, Timestamp};
pub use units::{Amount, BadAmount, Bytes, MilliCores, Ratio};
pub use usage::{ProjectId, UsageSample};
pub use validate::{CONTRACTS, validate};
