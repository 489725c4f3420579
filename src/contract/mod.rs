//! The platform's documents as types that cannot hold a wrong value, and the
//! words (subjects, units, ids, reasons) that every other room speaks.
//!
//! Everything is parsed once, at the door: whoever holds a [`Job`] never asks
//! again whether its id is well formed. Nothing here does I/O or reads a
//! clock.
mod answer; // ack and nack
mod class; // the six runtime classes
mod fault; // what is wrong with a document, and where
mod frame; // what a node says about a job
mod ids; // ids and NATS tokens
mod job; // what a dispatcher wants run
mod offer; // what a node can run right now
mod reason; // the closed list behind `Ov-Reason`
mod status; // what a node says of itself to people and programs
mod subject; // where on NATS
mod time; // wall time and the two clocks of the kernel
mod units; // bytes, ratios, cores
pub use answer::{Answer, FaultCode};
pub use class::RuntimeClass;
pub use fault::{Fault, FaultKind, Faults};
pub use frame::{Exit, ExitReason, JobEvent, JobFrame, Usage};
pub use ids::{ArtifactRef, BadId, DispatcherId, JobId, NodeId, Token};
pub use job::{Input, Job, Limits, NetPolicy};
pub use offer::{
    Capacity, Cpu, Disk, Gpu, Health, HealthStatus, Memory, Network, OfferKind,
    Pricing, PricingModel, Queue, ResourceOffer, Trust,
};
pub use reason::{Reason, ReasonCode};
pub use status::{
    CapacityReport, ClassReport, CpuReport, DiskReport, EngineReport,
    EngineState, ExitReport, GpuReport, HealthReport, JobLimitsReport,
    JobPhase, JobReport, JobUseReport, JobsReport, LinkPhase, LinkReport,
    MemoryReport, NetworkReport, NodeReport, OfferReport, ProbeReport,
    ReasonReport, RefusalReport, StatusDocument, Word,
};
pub use subject::{AskKind, SELF, Subjects};
pub use time::{BootMs, Clock, MonoMs, Now, Timestamp};
pub use units::{Bytes, MilliCores, Ratio};
