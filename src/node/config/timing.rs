use super::section::Section;
use crate::contract::{Bytes, MilliCores};
use std::time::Duration;

/// How often things are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    /// One reading of the machine.
    pub sample: Duration,
    /// An offer where nothing changed.
    pub offer: Duration,
    /// A probe of each class.
    pub probe: Duration,
}

/// What the owner keeps: never promised to jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserve {
    /// Processor.
    pub cpu: MilliCores,
    /// Memory.
    pub memory: Bytes,
    /// Of the filesystems that jobs use.
    pub disk: Bytes,
}

/// Reads `[intervals]`.
pub(super) fn intervals(mut section: Section<'_>) -> Intervals {
    let s = Duration::from_secs;
    // Faster than 4 a second costs more than it tells.
    let fastest = Duration::from_millis(250);
    let sample = section.within("sample", s(1), fastest..=s(60));
    // Readers forget an offer after 3 intervals: an hour is as good as gone.
    let offer = section.within("offer", s(10), s(1)..=s(3600));
    // A probe starts a container of each class, which is work.
    let probe = section.within("probe", s(600), s(10)..=s(86_400));
    if sample > offer {
        let message = "must not be longer than `intervals.offer`: an offer \
             would say again what was measured before the last";
        section.fault("sample", message);
    }
    section.done();
    Intervals { sample, offer, probe }
}

/// Reads `[reserve]`.
pub(super) fn reserve(mut section: Section<'_>) -> Reserve {
    let cpu = section.or("cpu_cores", MilliCores(0));
    // What the daemon, the engine and a shell need to stay usable.
    let memory = section.or("memory", Bytes::mib(512));
    // Below this an engine can no longer even remove what it made.
    let disk = section.or("disk", Bytes::mib(1024));
    section.done();
    Reserve { cpu, memory, disk }
}
