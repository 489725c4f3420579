//! The processor: who was busy over a window, and how much of it is ours.
//!
//! Everything comes from two readings of ticks, never from one; until there
//! are two, nothing is said.
mod sampler; // two readings a window apart
mod ticks; // what they say
pub(super) use sampler::{CpuSampler, LIMITS_MS, WINDOW_MS};

#[cfg(test)]
mod tests;
