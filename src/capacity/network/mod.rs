//! Physical uplinks: what goes in and out, and what the line could carry.
//!
//! A byte of a container passes a veth, a bridge and the uplink; only the
//! last has a device behind it, and only that is counted.
mod rates; // two readings of counters
mod sampler; // which interfaces, and what they say
pub(super) use sampler::NetworkSampler;

#[cfg(test)]
mod tests;
