use super::class::{self, CapsLayer};
use super::raw::{self, Table};
use super::section::{Section, Walk};
use super::{ConfigError, ConfigFault, Origin, Secrets, Shown};
use super::{ControlConfig, EngineConfig, GpuConfig, Intervals, JobsConfig};
use super::{LogConfig, NatsConfig, NodeConfig, OfferConfig, Reserve};
use super::{artifact, daemon, env, jobs, nats, node, timing};
use crate::contract::RuntimeClass;
use crate::job::{ArtifactPlan, ClassPlan, JobPlan};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the configuration lies unless someone says otherwise.
pub const DEFAULT_PATH: &str = "/etc/ovnode/node.toml";

/// Where installed manifests of classes lie, and where a checkout has them.
const WORKERS: [&str; 2] = ["/usr/share/ovnode/workers", "workers"];

/// What a configuration is made from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The file that was asked for; without one [`DEFAULT_PATH`] is read if
    /// it is there.
    pub file: Option<PathBuf>,
    /// The environment; only `OVNODE_…` matters.
    pub vars: Vec<(String, String)>,
}

impl Sources {
    /// Where the daemon's socket would be, for those who only want to talk
    /// to it: a fault elsewhere (or a file they may not read) is no reason
    /// not to try.
    pub fn control_socket(&self) -> PathBuf {
        let (path, text) = read(self.file.as_deref())
            .unwrap_or_else(|_| (Path::new(DEFAULT_PATH).into(), None));
        let (mut table, _) = raw::parse(&path, &text.unwrap_or_default());
        drop(env::overlay(&mut table, &self.vars));
        let walk = Walk::default();
        let mut root = Section::new(&walk, "", table, Origin::Default);
        daemon::control(root.section("control")).socket
    }
}

/// The whole configuration, free of faults.
#[derive(Clone)]
pub struct Config {
    /// Who the node is.
    pub node: NodeConfig,
    /// How it reaches NATS.
    pub nats: NatsConfig,
    /// How often things are done.
    pub intervals: Intervals,
    /// What the owner keeps.
    pub reserve: Reserve,
    /// The container engine.
    pub engine: EngineConfig,
    /// The local socket.
    pub control: ControlConfig,
    /// Whether GPUs are looked for.
    pub gpu: GpuConfig,
    /// What is offered.
    pub offer: OfferConfig,
    /// The daemon's log.
    pub log: LogConfig,
    /// What all jobs have in common.
    pub jobs: JobsConfig,
    /// Classes configured here.
    pub classes: BTreeMap<RuntimeClass, ClassPlan>,
    /// Artifacts declared here.
    pub artifacts: Vec<ArtifactPlan>,
    /// Where manifests and image definitions of classes lie.
    pub workers: PathBuf,
    /// The file that was read; none where there was none.
    pub file: Option<PathBuf>,
    /// Every effective value and where it comes from.
    pub shown: Vec<Shown>,
}

impl fmt::Debug for Config {
    /// As `config show` has it: an artifact's environment, which its plan
    /// keeps as plain text, is a place for secrets too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |shown: &Shown| shown.value(Secrets::Hidden);
        f.debug_map()
            .entries(self.shown.iter().map(|it| (&it.key, value(it))))
            .finish()
    }
}

impl Config {
    /// Reads and judges everything.
    ///
    /// # Errors
    /// When a file that was asked for cannot be read; else with every fault
    /// there is, in the order of the file.
    pub fn load(sources: &Sources) -> Result<Self, ConfigError> {
        let (path, text) = read(sources.file.as_deref())?;
        let mut config = parse(&path, text.as_deref(), &sources.vars)
            .map_err(ConfigError::Faults)?;
        config.file = text.is_some().then(|| path.to_path_buf());
        Ok(config)
    }

    /// What the owner lets jobs have.
    pub fn job_plan(&self) -> JobPlan {
        JobPlan {
            classes: self.classes.clone(),
            artifacts: self.artifacts.clone(),
            net: self.jobs.net,
            cancel_grace: self.jobs.cancel_grace,
            uids: self.jobs.uids.clone(),
            init: self.engine.init.clone(),
            records: self.node.state_dir.join("records"),
        }
    }
}

fn read(
    asked: Option<&Path>,
) -> Result<(Arc<Path>, Option<String>), ConfigError> {
    let path = asked.unwrap_or(Path::new(DEFAULT_PATH));
    match fs::read_to_string(path) {
        Ok(text) => Ok((path.into(), Some(text))),
        Err(why)
            if asked.is_none() && why.kind() == io::ErrorKind::NotFound =>
        {
            Ok((path.into(), None))
        }
        Err(source) => {
            Err(ConfigError::Read { path: path.to_path_buf(), source })
        }
    }
}

fn parse(
    path: &Arc<Path>,
    text: Option<&str>,
    vars: &[(String, String)],
) -> Result<Config, Vec<ConfigFault>> {
    let (mut table, syntax) = raw::parse(path, text.unwrap_or_default());
    let broken: BTreeSet<_> =
        syntax.iter().map(|fault| fault.origin.clone()).collect();
    let mut faults = syntax;
    faults.extend(env::overlay(&mut table, vars));
    let walk = Walk::default();
    let config = walk_root(&walk, table);
    let (found, shown, keys) = walk.gathered();
    // What a broken line was taken for is not worth a second word.
    faults.extend(found.into_iter().filter(|it| !broken.contains(&it.origin)));
    faults.extend(env::near_misses(vars, &keys));
    faults.sort_by(|a, b| a.origin.cmp(&b.origin));
    match config {
        Some(config) if faults.is_empty() => Ok(Config { shown, ..config }),
        _ => Err(faults),
    }
}

fn walk_root(walk: &Walk, table: Table) -> Option<Config> {
    let mut root = Section::new(walk, "", table, Origin::Default);
    let node = node::read(&mut root);
    let nats = nats::read(root.section("nats"));
    let intervals = timing::intervals(root.section("intervals"));
    let reserve = timing::reserve(root.section("reserve"));
    let engine = daemon::engine(root.section("engine"));
    let control = daemon::control(root.section("control"));
    let gpu = daemon::gpu(root.section("gpu"));
    let offer = daemon::offer(root.section("offer"));
    let log = daemon::log(root.section("log"));
    let jobs = jobs::read(root.section("jobs"));
    let workers = workers(root.section("workers"));
    let caps = CapsLayer::read(root.section("caps"));
    let named = root.section("class");
    let (names, classes) = classes(named, &caps, &workers);
    let artifacts = artifact::read(root.sections("artifact"), &names);
    root.done();
    sockets_differ(walk, &engine, &control);
    users_suffice(walk, &jobs, &classes);
    Some(Config {
        node: node?,
        nats: nats?,
        intervals,
        reserve,
        engine,
        control,
        gpu,
        offer,
        log: log?,
        jobs,
        classes,
        artifacts,
        workers,
        file: None,
        shown: Vec::new(),
    })
}

fn workers(mut section: Section<'_>) -> PathBuf {
    let [installed, checkout] = WORKERS.map(PathBuf::from);
    let default = if !installed.is_dir() && checkout.is_dir() {
        fs::canonicalize(checkout).unwrap_or(installed)
    } else {
        installed
    };
    let dir = section.or("dir", default);
    section.done();
    dir
}

/// Names as they were written, whether or not their sections make sense, and
/// the plans of those that do.
type Classes = (Vec<RuntimeClass>, BTreeMap<RuntimeClass, ClassPlan>);

fn classes(
    mut named: Section<'_>,
    caps: &CapsLayer,
    workers: &Path,
) -> Classes {
    let (mut names, mut plans) = (Vec::new(), BTreeMap::new());
    for class in RuntimeClass::ALL {
        let written = named.has(class.as_str());
        let section = named.section(class.as_str());
        if !written {
            section.done();
            continue;
        }
        names.push(class);
        if class == RuntimeClass::Gpu {
            let message = "cannot be offered by this version, which does \
                 not lease GPUs to jobs yet";
            named.fault(class.as_str(), message);
        }
        if let Some(plan) = class::read(section, class, caps, workers) {
            plans.insert(class, plan);
        }
    }
    named.done();
    (names, plans)
}

fn sockets_differ(walk: &Walk, engine: &EngineConfig, control: &ControlConfig) {
    if engine.socket == control.socket {
        let message = "must not be the engine's own (`engine.socket`)";
        walk.fault(walk.origin("control.socket"), "control.socket", message);
    }
}

fn users_suffice(
    walk: &Walk,
    jobs: &JobsConfig,
    classes: &BTreeMap<RuntimeClass, ClassPlan>,
) {
    let slots: u64 = classes.values().map(|plan| u64::from(plan.slots)).sum();
    let users = u64::from(jobs.uids.end.saturating_sub(jobs.uids.start));
    if users < slots {
        let message = format!(
            "gives {users} users, and the classes have {slots} slots: each \
             running job has a user of its own"
        );
        walk.fault(walk.origin("jobs.uid_count"), "jobs.uid_count", message);
    }
}
