use super::CapacityConfig;
use super::reading::Reading;
use super::root::Root;
use super::{CapacityError, DiskSample};
use crate::contract::{Bytes, MonoMs, Now, Ratio};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Busy for less than this share of a window, a device has done too little
/// to tell how much it could do.
const BUSY_ENOUGH: f64 = 0.02;

/// Fewer operations than this in a window are chance.
const OPS_ENOUGH: u64 = 20;

/// The filesystems that jobs write to.
#[derive(Debug)]
pub(super) struct DiskSampler {
    root: Root,
    paths: Vec<PathBuf>,
    devices: BTreeMap<Device, Pace>,
}

/// Major and minor.
type Device = (u32, u32);

/// What is known of one device's speed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Pace {
    at: MonoMs,
    then: Counters,
    /// Operations a second while busy, the greatest seen.
    best: Option<f64>,
    headroom: Option<f64>,
}

/// Of `/sys/dev/block/<device>/stat`, since the device came up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counters {
    ops: u64,
    busy_ms: u64,
}

impl DiskSampler {
    pub(super) fn new(config: &CapacityConfig) -> Self {
        Self {
            root: Root::new(&config.root),
            paths: config.disks.clone(),
            devices: BTreeMap::new(),
        }
    }

    /// The filesystem with the least room. One that cannot be asked is a
    /// warning and makes the answer absent, as it may be the fullest.
    pub(super) fn sample(&mut self, now: Now) -> Reading<DiskSample> {
        let mut reading = Reading::absent();
        let mut least: Option<(DiskSample, Device)> = None;
        for path in &self.paths {
            match room(path) {
                Ok(found) => {
                    least = match least {
                        Some(old) if old.0.free <= found.0.free => Some(old),
                        _ => Some(found),
                    };
                }
                Err(error) => reading.warnings.push(error.line()),
            }
        }
        if reading.warnings.is_empty()
            && let Some((mut disk, device)) = least
        {
            disk.iops_available = self.headroom(device, now.mono);
            reading.value = Some(disk);
        }
        reading
    }

    fn headroom(&mut self, device: Device, now: MonoMs) -> Option<f64> {
        // An absent file is usual: overlay and btrfs have no device of
        // their own, and then nothing can be said.
        let path = format!("/sys/dev/block/{}:{}/stat", device.0, device.1);
        let new = Counters::parse(&self.root.word(path)?)?;
        let pace = match self.devices.get(&device) {
            Some(old) => old.after(now, new),
            None => Pace { at: now, then: new, ..Pace::default() },
        };
        self.devices.insert(device, pace);
        pace.headroom
    }
}

impl Pace {
    /// Headroom is an estimate: while a device is busy it does `ops / busy`
    /// operations a second, so the best such rate ever seen, less what it
    /// does now, is what is left. A device that serves many operations at
    /// once can do more than that; none can do much less.
    fn after(self, now: MonoMs, new: Counters) -> Self {
        let window = now.0.saturating_sub(self.at.0);
        if window == 0 {
            return self;
        }
        let ops = new.ops.checked_sub(self.then.ops);
        let busy = new.busy_ms.checked_sub(self.then.busy_ms);
        let (Some(ops), Some(busy)) = (ops, busy) else {
            // Counters that went back belong to another device.
            return Self { at: now, then: new, ..Self::default() };
        };
        let mut best = self.best;
        // The kernel counts busy time in jiffies and may round past the end
        // of the window.
        let share = busy.min(window) as f64 / window as f64;
        if ops >= OPS_ENOUGH && share >= BUSY_ENOUGH {
            let rate = ops as f64 * 1000.0 / busy.min(window) as f64;
            best = Some(best.map_or(rate, |best| best.max(rate)));
        }
        let current = ops as f64 * 1000.0 / window as f64;
        let headroom = best.map(|best| (best - current).max(0.0));
        Self { at: now, then: new, best, headroom }
    }
}

impl Counters {
    /// Reads and writes completed (1st and 5th), time busy in ms (10th).
    fn parse(stat: &str) -> Option<Self> {
        let mut fields = stat.split_ascii_whitespace().map(str::parse::<u64>);
        let reads = fields.next()?.ok()?;
        let writes = fields.nth(3)?.ok()?;
        let busy_ms = fields.nth(4)?.ok()?;
        Some(Self { ops: reads.saturating_add(writes), busy_ms })
    }
}

/// How much room the filesystem of `path` has, and on which device it lies.
fn room(path: &Path) -> Result<(DiskSample, Device), CapacityError> {
    let failed = |errno: rustix::io::Errno| CapacityError::Filesystem {
        path: path.to_owned(),
        source: errno.into(),
    };
    let fs = rustix::fs::statvfs(path).map_err(failed)?;
    let dev = rustix::fs::stat(path).map_err(failed)?.st_dev;
    let bytes = |blocks: u64| Bytes(blocks.saturating_mul(fs.f_frsize));
    let inodes = fs.f_favail as f64 / fs.f_files as f64;
    let sample = DiskSample {
        path: path.to_owned(),
        total: bytes(fs.f_blocks),
        free: bytes(fs.f_bavail),
        // btrfs and others make inodes as they need them and say 0.
        inodes_free: Ratio::clamped(inodes).filter(|_| fs.f_files > 0),
        iops_available: None,
    };
    Ok((sample, (rustix::fs::major(dev), rustix::fs::minor(dev))))
}

#[cfg(test)]
mod tests {
    use super::{Counters, DiskSampler, Pace, room};
    use crate::capacity::CapacityConfig;
    use crate::contract::{MonoMs, Now};
    use std::fs;

    fn counters(ops: u64, busy_ms: u64) -> Counters {
        Counters { ops, busy_ms }
    }

    #[test]
    fn the_kernels_line_is_read_by_position() {
        let line = "100 0 0 0 11 0 0 0 0 77 0 0 0 0 0 0 0";
        assert_eq!(Counters::parse(line), Some(counters(111, 77)));
        assert_eq!(Counters::parse("1 2 3"), None);
    }

    #[test]
    fn an_idle_device_says_nothing_until_it_was_busy_once() {
        let start = Pace::default();
        let idle = start.after(MonoMs(1000), counters(5, 1));
        assert_eq!(idle.headroom, None);
        // 500 operations in 100 ms: 5,000 a second, 500 of them in use.
        let busy = idle.after(MonoMs(2000), counters(505, 101));
        assert_eq!(busy.headroom, Some(4500.0));
        let idle = busy.after(MonoMs(3000), counters(505, 101));
        assert_eq!(idle.headroom, Some(5000.0));
    }

    #[test]
    fn a_device_at_its_end_has_nothing_left() {
        let pace = Pace::default().after(MonoMs(1000), counters(900, 1000));
        assert_eq!(pace.headroom, Some(0.0));
    }

    #[test]
    fn counters_that_went_back_start_anew() {
        let busy = Pace::default().after(MonoMs(1000), counters(500, 100));
        let reset = busy.after(MonoMs(2000), counters(1, 1));
        assert_eq!(reset.headroom, None);
    }

    #[test]
    fn the_device_of_a_directory_is_looked_up_by_its_number() {
        let root = tempfile::tempdir().unwrap();
        let (_, (major, minor)) = room(root.path()).unwrap();
        let dir = root.path().join(format!("sys/dev/block/{major}:{minor}"));
        fs::create_dir_all(&dir).unwrap();
        let config = CapacityConfig {
            root: root.path().to_owned(),
            disks: vec![root.path().to_owned()],
            ..CapacityConfig::default()
        };
        let mut disk = DiskSampler::new(&config);
        fs::write(dir.join("stat"), "0 0 0 0 0 0 0 0 0 0 0").unwrap();
        let first = disk.sample(Now::default()).value.unwrap();
        assert!(first.total >= first.free);
        fs::write(dir.join("stat"), "90 0 0 0 10 0 0 0 0 50 0").unwrap();
        let now = Now { mono: MonoMs(1000), ..Now::default() };
        let sample = disk.sample(now).value.unwrap();
        assert_eq!(sample.iops_available, Some(1900.0));
    }

    #[test]
    fn a_filesystem_that_cannot_be_asked_makes_the_answer_absent() {
        let disks = vec!["/proc".into(), "/not/there".into()];
        let config = CapacityConfig { disks, ..CapacityConfig::default() };
        let reading = DiskSampler::new(&config).sample(Now::default());
        assert_eq!(reading.value, None);
        assert!(reading.warnings[0].contains("/not/there"));
    }
}
