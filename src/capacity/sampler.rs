use super::cpu::CpuSampler;
use super::disk::DiskSampler;
use super::gpu::GpuSampler;
use super::memory::MemorySampler;
use super::network::NetworkSampler;
use super::{CapacityConfig, Resource, Snapshot};
use crate::contract::Now;

/// All resources, read one after the other by whoever can wait for them:
/// `doctor`, tests and benches. The daemon uses [`watch`](super::watch()),
/// where a read that hangs takes only its own resource with it.
#[derive(Debug)]
pub struct Sampler {
    cpu: CpuSampler,
    memory: MemorySampler,
    network: NetworkSampler,
    disk: DiskSampler,
    gpu: GpuSampler,
}

impl Sampler {
    /// A sampler that has read nothing yet.
    pub fn new(config: &CapacityConfig) -> Self {
        Self {
            cpu: CpuSampler::new(config),
            memory: MemorySampler::new(config),
            network: NetworkSampler::new(config),
            disk: DiskSampler::new(config),
            gpu: GpuSampler::new(config),
        }
    }

    /// Reads everything. Rates (CPU, network) need two calls, a window
    /// apart; the first says nothing of them.
    pub fn sample(&mut self, now: Now) -> Snapshot {
        let mut all = Snapshot::begun(now);
        all.cpu = all.take(Resource::Cpu, self.cpu.sample(now));
        all.memory = all.take(Resource::Memory, self.memory.sample(now));
        all.network = all.take(Resource::Network, self.network.sample(now));
        all.disk = all.take(Resource::Disk, self.disk.sample(now));
        let gpus = all.take(Resource::Gpu, self.gpu.sample(now));
        all.gpus = gpus.unwrap_or_default();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::Sampler;
    use crate::capacity::{CapacityConfig, Remark, Resource};
    use crate::contract::{MonoMs, Now};

    #[test]
    fn this_machine_can_be_sampled_and_says_no_rate_at_first() {
        let disks = vec![std::env::temp_dir()];
        let config = CapacityConfig { disks, ..CapacityConfig::default() };
        let mut sampler = Sampler::new(&config);
        let first = sampler.sample(Now::default());
        assert_eq!((first.cpu, first.network), (None, None));
        let memory = first.memory.unwrap();
        assert!(memory.available <= memory.total);
        assert!(first.disk.is_some());
        // A machine with GPUs may have a fault to tell; the rest has none.
        let told = |r: &Remark| r.resource != Resource::Gpu;
        assert!(!first.warnings.iter().any(told));
        let now = Now { mono: MonoMs(1000), ..Now::default() };
        if let Some(cpu) = sampler.sample(now).cpu {
            assert!(cpu.free <= cpu.total);
        }
    }
}
