use super::cpu::CpuSampler;
use super::disk::DiskSampler;
use super::gpu::GpuSampler;
use super::lane::{Lane, Maker};
use super::memory::MemorySampler;
use super::network::NetworkSampler;
use super::reading::Reading;
use super::{
    CapacityConfig, CpuSample, DiskSample, GpuSample, MemorySample,
    NetworkSample, Resource, Snapshot,
};
use crate::contract::{Clock, Now};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Whatever the owner wrote, no machine needs to be read more often.
const SHORTEST: Duration = Duration::from_millis(10);

/// The least that a reading may take: kernel files answer in microseconds
/// and NVML in milliseconds, on a machine that is not overloaded.
const PATIENCE: Duration = Duration::from_millis(250);

/// Samples until `stop`, and says each snapshot to whoever watches. Until
/// the first one is there, the receiver holds an empty snapshot of time 0.
pub fn watch(
    config: CapacityConfig,
    clock: Arc<dyn Clock>,
    tracker: &TaskTracker,
    stop: CancellationToken,
) -> watch::Receiver<Snapshot> {
    let (out, snapshots) = watch::channel(Snapshot::default());
    let parts = Arc::new(Parts { config, clock, out });
    tracker.spawn(supervise(parts, tracker.clone(), stop));
    snapshots
}

struct Parts {
    config: CapacityConfig,
    clock: Arc<dyn Clock>,
    out: watch::Sender<Snapshot>,
}

/// Starts the task again should it ever panic: a node without samples looks
/// well and is of no use.
async fn supervise(
    parts: Arc<Parts>,
    tracker: TaskTracker,
    stop: CancellationToken,
) {
    // Long enough that a task which panics at once does not eat a core.
    let pause = Duration::from_secs(1);
    while !stop.is_cancelled() {
        let task = WatchTask::new(Arc::clone(&parts), stop.clone());
        match tracker.spawn(task.run()).await {
            Ok(()) => return,
            Err(error) => {
                tracing::error!(%error, "the sampling task is started anew");
                sleep(pause).await;
            }
        }
    }
}

struct WatchTask {
    parts: Arc<Parts>,
    stop: CancellationToken,
    cpu: Lane<CpuSample>,
    memory: Lane<MemorySample>,
    network: Lane<NetworkSample>,
    disk: Lane<DiskSample>,
    gpu: Lane<Vec<GpuSample>>,
}

/// The maker of a sampler's reader, for its lane.
macro_rules! maker {
    ($sampler:ident, $config:expr) => {{
        let config = $config.clone();
        let maker: Maker<_> = Arc::new(move || {
            let mut sampler = $sampler::new(&config);
            Box::new(move |now: Now| sampler.sample(now))
        });
        maker
    }};
}

impl WatchTask {
    fn new(parts: Arc<Parts>, stop: CancellationToken) -> Self {
        let config = &parts.config;
        Self {
            cpu: Lane::new(Resource::Cpu, maker!(CpuSampler, config)),
            memory: Lane::new(Resource::Memory, maker!(MemorySampler, config)),
            network: Lane::new(
                Resource::Network,
                maker!(NetworkSampler, config),
            ),
            disk: Lane::new(Resource::Disk, maker!(DiskSampler, config)),
            gpu: Lane::new(Resource::Gpu, maker!(GpuSampler, config)),
            parts,
            stop,
        }
    }

    async fn run(mut self) {
        let period = self.parts.config.interval.max(SHORTEST);
        let limit = (period / 2).max(PATIENCE);
        let mut tick = interval(period);
        // After a sleep of the machine one sample is enough.
        tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            let ready = Instant::now();
            let due = tokio::select! {
                biased; // a tick that is always due must not hide the stop
                () = self.stop.cancelled() => return,
                due = tick.tick() => due,
            };
            // Time that a round itself took is no lateness of the timer.
            let late = Instant::now() - due.max(ready);
            let mut snapshot = self.round(limit).await;
            snapshot.event_loop_lag_ms = Some(late.as_secs_f64() * 1000.0);
            self.parts.out.send_replace(snapshot);
        }
    }

    /// All resources at once, each within `limit`.
    async fn round(&mut self, limit: Duration) -> Snapshot {
        let now = self.parts.clock.now();
        let (cpu, memory, network, disk, gpus): (_, _, _, _, Reading<_>) = tokio::join!(
            self.cpu.ask(now, limit),
            self.memory.ask(now, limit),
            self.network.ask(now, limit),
            self.disk.ask(now, limit),
            self.gpu.ask(now, limit),
        );
        let mut all = Snapshot::begun(now);
        all.cpu = all.take(Resource::Cpu, cpu);
        all.memory = all.take(Resource::Memory, memory);
        all.network = all.take(Resource::Network, network);
        all.disk = all.take(Resource::Disk, disk);
        all.gpus = all.take(Resource::Gpu, gpus).unwrap_or_default();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::watch;
    use crate::capacity::{CapacityConfig, Remark, Resource};
    use crate::contract::{Clock, MonoMs, Now, Timestamp};
    use std::fs;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;
    use tokio::time::timeout;
    use tokio_util::sync::CancellationToken;
    use tokio_util::task::TaskTracker;

    /// A clock on which a second passes with every look.
    #[derive(Default)]
    struct Strides(AtomicU64);

    impl Clock for Strides {
        fn now(&self) -> Now {
            let ms = self.0.fetch_add(1000, Ordering::SeqCst) + 1000;
            let (wall, mono) = (Timestamp(ms), MonoMs(ms));
            Now { wall, mono, ..Now::default() }
        }
    }

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_read_that_hangs_delays_no_other_and_is_said() {
        let root = tempfile::tempdir().unwrap();
        let proc = root.path().join("proc");
        fs::create_dir(&proc).unwrap();
        let memory = "MemTotal: 9 kB\nMemAvailable: 8 kB\n";
        fs::write(proc.join("meminfo"), memory).unwrap();
        // Opening a pipe that nobody writes to sleeps in the kernel.
        let pipe = proc.join("stat");
        let mode = rustix::fs::Mode::RWXU;
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, mode).unwrap();
        let config = CapacityConfig {
            root: root.path().to_owned(),
            interval: Duration::ZERO,
            nvml: Vec::new(),
            ..CapacityConfig::default()
        };
        let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
        let clock = Arc::new(Strides::default());
        let mut snapshots = watch(config, clock, &tracker, stop.clone());
        let said = snapshots.wait_for(|snapshot| {
            let cpu = |r: &Remark| {
                r.resource == Resource::Cpu && r.text.contains("answered")
            };
            snapshot.memory.is_some() && snapshot.warnings.iter().any(cpu)
        });
        let found = timeout(LONG, said).await.unwrap().unwrap().clone();
        assert_eq!(found.cpu, None);
        assert!(found.event_loop_lag_ms.is_some());
        let wake = fs::OpenOptions::new().write(true).open(&pipe);
        drop(wake.unwrap());
        stop.cancel();
        tracker.close();
        timeout(LONG, tracker.wait()).await.unwrap();
    }
}
