//! The seccomp profile of every sandbox: what is not named is refused.
//!
//! Two halves. `syscalls.json` lists, with reasons, the calls that are
//! allowed whatever their arguments; `rules.rs` makes those that depend on an
//! argument. A filter compares 64 bits where the kernel reads 32, so each
//! comparison here is of the low 32 alone: with a plain "not equal" a job
//! would set one high bit and pass.
mod profile; // the two halves, as the engine reads them
mod rules; // what is allowed by its arguments
pub use profile::seccomp_strict;
