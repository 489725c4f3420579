//! What the machine has and what of it is free, one file a resource.
//!
//! A sampler reads the kernel; a [`Snapshot`] is all that leaves the room.
//! What could not be read is absent, never zero, and a read that hangs (a
//! dead NFS server, a GPU driver that sleeps) takes only its own resource
//! with it.
mod cgroup; // which limits of cgroups bind the jobs
mod config; // what the owner says about measuring
mod cpu; // processor, from ticks
mod disk; // the filesystems jobs write to
mod error; // what could not be read
mod gpu; // NVML, which may be absent, old, broken or asleep
mod lane; // one thread a resource, so that one may hang alone
mod machine; // what does not change while the daemon runs
mod memory; // memory, and limits of it
mod network; // physical uplinks
mod reading; // one resource's answer
mod root; // where /proc, /sys and /dev lie
mod sampler; // all resources, one after the other
mod snapshot; // all samples of one moment
mod watch; // a snapshot each interval
pub use config::CapacityConfig;
pub use error::CapacityError;
pub use machine::Machine;
pub use sampler::Sampler;
pub use snapshot::{
    CpuSample, DiskSample, GpuSample, MemorySample, NetworkSample, Remark,
    Resource, Snapshot,
};
pub use watch::watch;
