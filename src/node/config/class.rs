use super::raw::{self, Table};
use super::section::{Given, Section, Walk, out_of};
use super::wanted::Wanted;
use super::{ConfigFault, Origin};
use crate::contract::{Bytes, MilliCores, RuntimeClass};
use crate::job::{Caps, ClassPlan};
use std::fs;
use std::io::ErrorKind;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What one job of a class has, as far as one layer says: the owner's
/// `[class.<name>]` lies over `[caps]`, that over the manifest which came
/// with the image, and that over what is right for most.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer {
    image: Option<Given<String>>,
    cpu: Option<Given<MilliCores>>,
    memory: Option<Given<Bytes>>,
    pids: Option<Given<u32>>,
    scratch: Option<Given<Bytes>>,
    shm: Option<Given<Bytes>>,
    pub(super) caps: CapsLayer,
}

/// The caps of one layer.
#[derive(Clone, Debug, Default)]
pub(super) struct CapsLayer {
    wall: Option<Given<Duration>>,
    cpu: Option<Given<Duration>>,
    ttl: Option<Given<Duration>>,
    output: Option<Given<Bytes>>,
    result: Option<Given<Bytes>>,
    open_files: Option<Given<u64>>,
}

impl Layer {
    fn read(section: &mut Section<'_>) -> Self {
        Self {
            image: section.given("image"),
            cpu: section.given("cpu_cores"),
            memory: section.given("memory"),
            pids: section.given("pids"),
            scratch: section.given("scratch"),
            shm: section.given("shm"),
            caps: CapsLayer::read(section.section("caps")),
        }
    }

    fn over(self, lower: Self) -> Self {
        Self {
            image: self.image.or(lower.image),
            cpu: self.cpu.or(lower.cpu),
            memory: self.memory.or(lower.memory),
            pids: self.pids.or(lower.pids),
            scratch: self.scratch.or(lower.scratch),
            shm: self.shm.or(lower.shm),
            caps: self.caps.over(lower.caps),
        }
    }
}

impl CapsLayer {
    pub(super) fn read(mut section: Section<'_>) -> Self {
        let layer = Self {
            wall: section.given("wall"),
            cpu: section.given("cpu"),
            ttl: section.given("ttl"),
            output: section.given("output"),
            result: section.given("result"),
            open_files: section.given("open_files"),
        };
        section.done();
        layer
    }

    fn over(self, lower: Self) -> Self {
        Self {
            wall: self.wall.or(lower.wall),
            cpu: self.cpu.or(lower.cpu),
            ttl: self.ttl.or(lower.ttl),
            output: self.output.or(lower.output),
            result: self.result.or(lower.result),
            open_files: self.open_files.or(lower.open_files),
        }
    }
}

/// Reads `[class.<name>]` and what lies under it.
pub(super) fn read(
    mut section: Section<'_>,
    class: RuntimeClass,
    caps: &CapsLayer,
    workers: &Path,
) -> Option<ClassPlan> {
    // A class of no slots is a class that is not offered: leave it out.
    let slots = section.within("slots", 1, 1..=4096);
    let own = Layer::read(&mut section);
    let caps = Layer { caps: caps.clone(), ..Layer::default() };
    let layer = own.over(caps).over(manifest(section.walk, class, workers));
    let plan = Resolve { section: &section }.plan(layer, slots);
    if plan.is_none() {
        let message = format!(
            "is not said, and there is no manifest `{}` that would",
            manifest_path(workers, class).display()
        );
        section.fault("image", message);
    }
    section.done();
    plan
}

fn manifest_path(workers: &Path, class: RuntimeClass) -> Arc<Path> {
    workers.join(class.as_str()).join("class.toml").into()
}

/// What the class's own manifest says; nothing where there is none.
fn manifest(walk: &Walk, class: RuntimeClass, workers: &Path) -> Layer {
    let path = manifest_path(workers, class);
    let at = Origin::File { path: Arc::clone(&path), line: 1 };
    let (table, faults) = match fs::read_to_string(&path) {
        Ok(text) => raw::parse(&path, &text),
        Err(why) if why.kind() == ErrorKind::NotFound => {
            return Layer::default();
        }
        Err(why) => {
            walk.fault(at, "", format!("cannot be read: {why}"));
            return Layer::default();
        }
    };
    if !faults.is_empty() {
        for ConfigFault { origin, key, message } in faults {
            walk.fault(origin, key, message);
        }
        return Layer::default();
    }
    from_manifest(walk, class, table, at)
}

fn from_manifest(
    walk: &Walk,
    class: RuntimeClass,
    table: Table,
    at: Origin,
) -> Layer {
    let mut section = Section::new(walk, "", table, at);
    let name = section.given::<String>("class");
    if name.is_none_or(|name| name.value != class.as_str()) {
        let message = format!("must be \"{class}\", as its folder is");
        section.fault("class", message);
    }
    let layer = Layer::read(&mut section);
    section.done();
    layer
}

/// Settles each value: shown, and held against its bounds where it stands.
struct Resolve<'s, 'w> {
    section: &'s Section<'w>,
}

impl Resolve<'_, '_> {
    fn settle<T: Wanted + PartialOrd>(
        &self,
        key: &str,
        given: Option<Given<T>>,
        default: T,
        bounds: RangeInclusive<T>,
    ) -> Given<T> {
        let given = given.unwrap_or(Given::default(default));
        let (walk, key) = (self.section.walk, self.section.key(key));
        walk.show(&key, &given);
        if !bounds.contains(&given.value) {
            let message = out_of(&given.value, &bounds);
            walk.fault(given.origin.clone(), key, message);
        }
        given
    }

    fn plan(&self, layer: Layer, slots: u32) -> Option<ClassPlan> {
        let mib = Bytes::mib;
        let cores = MilliCores(10)..=MilliCores(4_096_000);
        let cpu = self.settle("cpu_cores", layer.cpu, MilliCores(1000), cores);
        // Below 16 MiB not even a shell comes up beside PID 1.
        let most = mib(1 << 24);
        let memory =
            self.settle("memory", layer.memory, mib(256), mib(16)..=most);
        // PID 1 and its helper take four; what is left must run something.
        let pids = self.settle("pids", layer.pids, 128, 8..=4_000_000);
        let scratch =
            self.settle("scratch", layer.scratch, mib(64), mib(1)..=most);
        let shm = self.settle("shm", layer.shm, mib(16), Bytes(0)..=most);
        self.files_leave_memory(&memory, &scratch, &shm);
        let caps = self.caps(layer.caps);
        let image = layer.image?;
        let key = self.section.key("image");
        self.section.walk.show(&key, &image);
        Some(ClassPlan {
            image: image.value,
            slots,
            cpu: cpu.value,
            memory: memory.value,
            pids: pids.value,
            scratch: scratch.value,
            shm: shm.value,
            caps,
        })
    }

    /// Scratch and shm are memory: full, they must leave some to run in.
    fn files_leave_memory(
        &self,
        memory: &Given<Bytes>,
        scratch: &Given<Bytes>,
        shm: &Given<Bytes>,
    ) {
        let files = scratch.value.0.saturating_add(shm.value.0);
        if files < memory.value.0 {
            return;
        }
        let text = |size: Bytes| size.shown().hidden();
        let message = format!(
            "scratch ({}) and shm ({}) are part of memory ({}) and would \
             leave nothing of it",
            text(scratch.value),
            text(shm.value),
            text(memory.value)
        );
        // Whoever spoke last made the pair impossible.
        let origins = [&memory.origin, &scratch.origin, &shm.origin];
        let origin = origins.into_iter().min().cloned();
        let origin = origin.unwrap_or(Origin::Default);
        let key = self.section.key("memory");
        self.section.walk.fault(origin, key, message);
    }

    fn caps(&self, layer: CapsLayer) -> Caps {
        let hours = |n: u64| Duration::from_secs(n * 3600);
        // A month: past that it is a service, not a job.
        let times = || Duration::from_millis(100)..=hours(24 * 30);
        let quarter = Duration::from_secs(900);
        let wall = self.settle("caps.wall", layer.wall, quarter, times());
        let cpu = self.settle("caps.cpu", layer.cpu, quarter, times());
        let ttl = self.settle("caps.ttl", layer.ttl, hours(1), times());
        // Kept whole on disk while the job runs, preallocated.
        let rings = Bytes::kib(64)..=Bytes::mib(1024);
        let output =
            self.settle("caps.output", layer.output, Bytes::mib(64), rings);
        // Past 256 KiB a result no longer fits the frame that carries it.
        let results = Bytes::kib(1)..=Bytes::kib(256);
        let result =
            self.settle("caps.result", layer.result, Bytes::kib(256), results);
        let files = 16..=1_048_576;
        let open =
            self.settle("caps.open_files", layer.open_files, 1024, files);
        Caps {
            wall: wall.value,
            cpu: cpu.value,
            ttl: ttl.value,
            output: output.value,
            result: result.value,
            open_files: open.value,
        }
    }
}
