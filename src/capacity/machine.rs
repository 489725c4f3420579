use crate::contract::Bytes;
use std::thread;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// What does not change while the daemon runs: for people, in status and
/// doctor. Nothing that is offered is taken from here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// As the kernel names it: `x86_64`.
    pub arch: String,
    /// The distribution and its version.
    pub os: Option<String>,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// Processors that this process may run on.
    pub cores: Option<usize>,
    /// All memory.
    pub memory: Option<Bytes>,
}

impl Machine {
    /// Looks once. Only memory is refreshed: processes are never walked.
    pub fn look() -> Self {
        let memory = MemoryRefreshKind::nothing().with_ram();
        let only = RefreshKind::nothing().with_memory(memory);
        let system = System::new_with_specifics(only).ok();
        Self {
            arch: System::cpu_arch(),
            os: System::long_os_version().ok(),
            kernel: System::kernel_version().ok(),
            cores: thread::available_parallelism().ok().map(usize::from),
            memory: system.map(|system| Bytes(system.total_memory())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Machine;
    use crate::contract::Bytes;

    #[test]
    fn a_machine_has_a_processor_and_memory() {
        let machine = Machine::look();
        assert!(!machine.arch.is_empty());
        assert!(machine.memory.is_some_and(|memory| memory > Bytes(0)));
    }
}
