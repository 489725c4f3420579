//! One sandbox, as a supervisor sees it, cut where the outside begins.
//!
//! Behind these traits stand the engine, the record's files, the socket to
//! PID 1 and the cgroup; in tests, none of them. A sandbox is started once
//! and has orders once: whatever goes wrong before the orders, a *new* one is
//! made, and the old is removed.
#[cfg(test)]
pub(crate) mod fake; // a sandbox of memory and channels
mod kept; // goes with its last user
mod launch; // what a job's sandbox is made of, and what PID 1 is told
mod real; // one over a real engine
mod remove; // what is left of sandboxes goes, however often that takes
mod seam; // what a supervisor asks of a sandbox
mod sweep; // what belongs to no job is found
mod watch; // the end of a process, seen without the engine
mod workshop; // made, compared, started
pub(crate) use launch::{Wish, orders};
pub(crate) use real::RealSandbox;
pub(crate) use remove::{RemoveTask, Remover};
pub(crate) use seam::{Look, Piece, Sandbox, Tail, Word, Workshop};
pub(crate) use sweep::{Ours, SweepTask};
pub use workshop::SandboxNames;
pub(crate) use workshop::{EngineWorkshop, Made, chain};
