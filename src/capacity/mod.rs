//! What the machine has and what of it is free, one file a resource.
//!
//! A sampler reads the kernel; a [`Snapshot`] is all that leaves the room.
//! What could not be read is absent, never zero.
mod snapshot; // all samples of one moment
pub use snapshot::{
    CpuSample, DiskSample, GpuSample, MemorySample, NetworkSample, Snapshot,
};
