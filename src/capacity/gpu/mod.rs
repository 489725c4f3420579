//! GPUs, by NVML: absent is normal, broken is said, asleep is waited for by
//! nobody else.
//!
//! Cards are known by UUID only, as indexes shift when one falls off the
//! bus. A card in MIG mode is never offered whole: what jobs can be given of
//! it are its instances.
mod cards; // one round over all cards
mod driver; // the library: found, broken, or not there
mod sampler; // loads, looks again, reads
pub(super) use sampler::GpuSampler;

#[cfg(test)]
mod stub;
#[cfg(test)]
mod tests;
