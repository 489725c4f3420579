//! A sandbox's own accounts, read from the kernel rather than the engine.
//!
//! The engine's statistics may hang, cost it a processor at one question a
//! second, and say 0 for what they do not know. These files do neither: what
//! is not there is absent, never 0. Cgroup v1 spreads one sandbox over a tree
//! for each controller; v2 has one for all.
mod group; // what may be asked of a sandbox's cgroup
mod place; // where its directories lie
mod read; // the kernel's formats
#[cfg(test)]
mod tests;
pub use group::{Cgroup, CgroupUsage};
