use super::cards::{Known, round};
use super::driver::{NoDriver, load, nodes};
use crate::capacity::reading::Reading;
use crate::capacity::root::Root;
use crate::capacity::{CapacityConfig, GpuSample};
use crate::contract::{MonoMs, Now};
use nvml_wrapper::Nvml;
use std::fmt;
use std::path::PathBuf;

/// A driver may come up minutes after the daemon, and a look costs a failed
/// load of a library: once a minute is both soon and cheap enough.
const LOOK_AGAIN_MS: u64 = 60_000;

/// The GPUs.
pub(in crate::capacity) struct GpuSampler {
    root: Root,
    names: Vec<PathBuf>,
    state: State,
}

enum State {
    /// Never looked.
    New,
    /// Looked, and found none that works.
    Without {
        looked: MonoMs,
        why: NoDriver,
    },
    With(Box<Driver>),
}

struct Driver {
    nvml: Nvml,
    known: Known,
    looked: MonoMs,
    /// Device files after it was loaded: it makes some of them itself.
    nodes: Vec<String>,
}

impl fmt::Debug for GpuSampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The driver's own state is its secret.
        f.debug_struct("GpuSampler")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

impl GpuSampler {
    pub(in crate::capacity) fn new(config: &CapacityConfig) -> Self {
        Self {
            root: Root::new(&config.root),
            names: config.nvml.clone(),
            state: State::New,
        }
    }

    pub(in crate::capacity) fn sample(
        &mut self,
        now: Now,
    ) -> Reading<Vec<GpuSample>> {
        if self.is_due(now.mono) {
            self.state = self.look(now.mono);
        }
        match &mut self.state {
            State::New => Reading::absent(),
            State::Without { why, .. } => without(why),
            State::With(driver) => {
                match round(&driver.nvml, &mut driver.known) {
                    Ok(reading) => reading,
                    Err(error) => {
                        let why =
                            format!("the driver does not answer: {error}");
                        let why = NoDriver::Broken(why);
                        let reading = without(&why);
                        let looked = now.mono;
                        self.state = State::Without { looked, why };
                        reading
                    }
                }
            }
        }
    }

    /// A driver that works is loaded anew when cards came or went: it lists
    /// them once, when it is loaded.
    fn is_due(&mut self, now: MonoMs) -> bool {
        match &mut self.state {
            State::New => true,
            State::Without { looked, .. } => is_old(*looked, now),
            State::With(driver) if is_old(driver.looked, now) => {
                driver.looked = now;
                driver.nodes != nodes(&self.root)
            }
            State::With(_) => false,
        }
    }

    fn look(&mut self, now: MonoMs) -> State {
        // The old one is ended before the new one begins: two at once share
        // one list of cards, which is the old.
        self.state = State::New;
        match load(&self.root, &self.names) {
            Ok(nvml) => State::With(Box::new(Driver {
                nvml,
                known: Known::new(),
                looked: now,
                nodes: nodes(&self.root),
            })),
            Err(why) => State::Without { looked: now, why },
        }
    }
}

fn is_old(looked: MonoMs, now: MonoMs) -> bool {
    now.0.saturating_sub(looked.0) >= LOOK_AGAIN_MS
}

fn without(why: &NoDriver) -> Reading<Vec<GpuSample>> {
    match why {
        NoDriver::Absent => Reading::absent(),
        NoDriver::Idle(why) => Reading::noted(why.clone()),
        NoDriver::Broken(why) => Reading::warned(why.clone()),
    }
}
