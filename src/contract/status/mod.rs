//! The status document: all that a node says of itself to its owner, and the
//! part of it that dispatchers may read.
//!
//! Programs read it, so it is only ever added to: whatever is absent reads
//! as its default, unknown keys are ignored, and words that other rooms own
//! (codes, reasons) are text, of which a reader must expect new ones.
//! `docs/status.md` describes every field; a golden test keeps the bytes.
mod capacity; // what the machine has, in words
mod document; // the document itself, and its public part
mod job;
mod public; // what of it anyone may read // one job, as the node tells it
pub use capacity::{
    CapacityReport, CpuReport, DiskReport, GpuReport, MemoryReport,
    NetworkReport,
};
pub use document::{
    ClassReport, EngineReport, EngineState, HealthReport, LinkReport,
    NodeReport, OfferReport, ProbeReport, ReasonReport, RefusalReport,
    StatusDocument, Word,
};
pub use job::{
    ExitReport, JobDocument, JobLimitsReport, JobList, JobPhase, JobReport,
    JobUseReport, JobsReport,
};

#[cfg(test)]
mod tests;
