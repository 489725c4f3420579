//! Which limits of cgroups bind the jobs, v1 and v2.
//!
//! A limit holds for everything below it, so each question walks from a leaf
//! up to the top of what can be seen, and the tightest answer wins. Jobs are
//! not children of the daemon: they live where the engine puts them, and a
//! limit on the daemon's own unit says nothing about them.
mod limit; // what one folder allows
mod place; // which folders there are on the way up
pub(super) use limit::{
    CpuBound, MemoryBound, cpu_bound, memory_bounds, memory_used,
};
pub(super) use place::{Place, ways};

#[cfg(test)]
mod tests;
