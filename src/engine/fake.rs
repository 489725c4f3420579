//! An engine that lives in memory and does what a test tells it.
//!
//! It keeps the contract of [`Engine`], which the tests hold it to beside a
//! real one. What a real one does only on a bad day, a script asks for: a
//! call that hangs, is refused, is not answered, or is done and not answered.
use super::{
    ContainerId, Engine, EngineError, EngineInfo, ImageFacts, Inspection,
    LaunchSpec, OwnContainer, SandboxId,
};
use crate::contract::NodeId;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// A call of [`Engine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// [`Engine::info`].
    Info,
    /// [`Engine::image`].
    Image,
    /// [`Engine::create`].
    Create,
    /// [`Engine::start`].
    Start,
    /// [`Engine::inspect`].
    Inspect,
    /// [`Engine::wait`].
    Wait,
    /// [`Engine::kill`].
    Kill,
    /// [`Engine::remove`].
    Remove,
    /// [`Engine::own`].
    Own,
}

/// What becomes of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It is done after this time (of the test's clock).
    Late(Duration),
    /// It is not done, and not answered.
    Away,
    /// It is done, and not answered.
    Lost,
    /// It is refused, with a status and a message.
    Refused(u16, String),
}

/// The engine; clones are the same one.
#[derive(Clone, Debug)]
pub struct FakeEngine {
    world: Arc<Mutex<World>>,
    changes: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct World {
    away: bool,
    images: HashMap<String, ImageFacts>,
    containers: BTreeMap<String, Container>,
    script: HashMap<Call, VecDeque<Turn>>,
    calls: Vec<Call>,
    made: u32,
    distorted: Option<(String, String)>,
}

#[derive(Clone, Debug)]
struct Container {
    spec: LaunchSpec,
    pid: u32,
    running: bool,
    exit_code: Option<i64>,
}

/// What a killed PID 1 is said to exit with: 128 and KILL's number.
const KILLED: i64 = 137;

impl Default for FakeEngine {
    fn default() -> Self {
        let changes = watch::Sender::new(0);
        Self { world: Arc::default(), changes }
    }
}

impl FakeEngine {
    /// An engine that has this image only.
    pub fn with_image(reference: &str) -> Self {
        let engine = Self::default();
        let image = ImageFacts {
            id: format!("sha256:fake-{reference}"),
            volumes: Vec::new(),
            env: vec!["PATH=/bin".to_owned()],
            architecture: "amd64".to_owned(),
            created_ms: Some(0),
            size_bytes: 1,
        };
        engine.add_image(reference, image);
        engine
    }

    /// Gives it an image; containers are made of it by its id.
    pub fn add_image(&self, reference: &str, image: ImageFacts) {
        self.world().images.insert(reference.to_owned(), image);
    }

    /// The next call of this kind goes so; scripted turns queue up.
    pub fn next(&self, call: Call, turn: Turn) {
        self.world().script.entry(call).or_default().push_back(turn);
    }

    /// Whether it answers at all; waits under way end when it goes away.
    pub fn set_away(&self, away: bool) {
        self.world().away = away;
        self.changed();
    }

    /// PID 1 of this container exits by itself.
    pub fn exits(&self, id: &ContainerId, code: i64) {
        self.end(id, code);
    }

    /// From now on it shows `line` of every container in the place of the
    /// promise that starts with `name=`.
    pub fn shows_instead(&self, name: &str, line: &str) {
        let distorted = (format!("{name}="), line.to_owned());
        self.world().distorted = Some(distorted);
    }

    /// The container of this sandbox, if it was made.
    pub fn container(&self, sandbox: &SandboxId) -> Option<ContainerId> {
        let world = self.world();
        let mut all = world.containers.iter();
        let found = all.find(|(_, one)| one.spec.sandbox == *sandbox);
        found.map(|(id, _)| ContainerId(id.clone()))
    }

    /// Of what it was made.
    pub fn spec(&self, id: &ContainerId) -> Option<LaunchSpec> {
        self.world().containers.get(&id.0).map(|one| one.spec.clone())
    }

    /// Every call so far, in order.
    pub fn calls(&self) -> Vec<Call> {
        self.world().calls.clone()
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) {
        self.changes.send_modify(|n| *n += 1);
    }

    fn end(&self, id: &ContainerId, code: i64) {
        if let Some(one) = self.world().containers.get_mut(&id.0)
            && one.running
        {
            one.running = false;
            one.exit_code = Some(code);
        }
        self.changed();
    }

    /// Runs a call as the script says.
    async fn turn<T>(
        &self,
        call: Call,
        done: impl FnOnce(&mut World) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let turn = {
            let mut world = self.world();
            world.calls.push(call);
            let scripted = world.script.get_mut(&call);
            scripted.and_then(VecDeque::pop_front)
        };
        let lost = turn == Some(Turn::Lost);
        match turn {
            Some(Turn::Late(by)) => tokio::time::sleep(by).await,
            Some(Turn::Away) => return Err(away()),
            Some(Turn::Refused(status, message)) => {
                return Err(refused(status, &message));
            }
            Some(Turn::Lost) | None => {}
        }
        if self.world().away {
            return Err(away());
        }
        let answer = done(&mut self.world());
        self.changed();
        if lost { Err(away()) } else { answer }
    }
}

fn away() -> EngineError {
    let socket = "fake".to_owned();
    EngineError::Away { socket, doing: "what a test scripted", source: None }
}

fn refused(status: u16, message: &str) -> EngineError {
    let doing = "what a test scripted";
    EngineError::Refused { doing, status, message: message.to_owned() }
}

impl World {
    fn one(&mut self, id: &ContainerId) -> Result<&mut Container, EngineError> {
        let gone = || refused(404, "no such container");
        self.containers.get_mut(&id.0).ok_or_else(gone)
    }

    fn make(&mut self, spec: &LaunchSpec) -> Result<ContainerId, EngineError> {
        if !self.images.values().any(|image| image.id == spec.image) {
            return Err(refused(404, "no such image"));
        }
        let mut all = self.containers.values();
        if all.any(|one| one.spec.sandbox == spec.sandbox) {
            return Err(refused(409, "the name is in use"));
        }
        self.made += 1;
        let id = format!("{:064x}", self.made);
        let spec = spec.clone();
        // No process has such an id: the kernel's end at 2^22.
        let pid = (1 << 22) + self.made;
        let one = Container { spec, pid, running: false, exit_code: None };
        self.containers.insert(id.clone(), one);
        Ok(ContainerId(id))
    }

    fn inspect(&self, id: &ContainerId) -> Option<Inspection> {
        let one = self.containers.get(&id.0)?;
        let mut applied = one.spec.promises();
        if let Some((name, line)) = &self.distorted {
            applied.retain(|other| !other.starts_with(name));
            applied.push(line.clone());
        }
        Some(Inspection {
            pid: one.running.then_some(one.pid),
            running: one.running,
            exit_code: one.exit_code,
            oom_killed: false,
            error: None,
            applied,
        })
    }

    fn own(&self, node: &NodeId) -> Vec<OwnContainer> {
        let all = self.containers.iter();
        all.filter(|(_, one)| one.spec.node == *node)
            .map(|(id, one)| OwnContainer {
                id: ContainerId(id.clone()),
                sandbox: one.spec.sandbox.clone(),
                running: one.running,
                created_s: 0,
            })
            .collect()
    }
}

impl Engine for FakeEngine {
    async fn info(&self) -> Result<EngineInfo, EngineError> {
        let info = EngineInfo {
            version: "0.0.0-fake".to_owned(),
            api: "1.41".to_owned(),
            cgroup_version: 2,
            cgroup_driver: "cgroupfs".to_owned(),
            data_root: PathBuf::from("/var/lib/docker"),
            security: vec!["name=seccomp,profile=default".to_owned()],
        };
        self.turn(Call::Info, |_| Ok(info)).await
    }

    async fn image(
        &self,
        reference: &str,
    ) -> Result<Option<ImageFacts>, EngineError> {
        let found = |world: &mut World| {
            let mut all = world.images.iter();
            let found = all.find(|(name, image)| {
                name.as_str() == reference || image.id == reference
            });
            Ok(found.map(|(_, image)| image.clone()))
        };
        self.turn(Call::Image, found).await
    }

    async fn create(
        &self,
        spec: &LaunchSpec,
    ) -> Result<ContainerId, EngineError> {
        self.turn(Call::Create, |world| world.make(spec)).await
    }

    async fn start(&self, id: &ContainerId) -> Result<(), EngineError> {
        let started = |world: &mut World| {
            let one = world.one(id)?;
            one.running = true;
            one.exit_code = None;
            Ok(())
        };
        self.turn(Call::Start, started).await
    }

    async fn inspect(
        &self,
        id: &ContainerId,
    ) -> Result<Option<Inspection>, EngineError> {
        self.turn(Call::Inspect, |world| Ok(world.inspect(id))).await
    }

    async fn wait(&self, id: &ContainerId) -> Result<i64, EngineError> {
        let mut changes = self.changes.subscribe();
        self.turn(Call::Wait, |world| world.one(id).map(|_| ())).await?;
        loop {
            let over = {
                let mut world = self.world();
                if world.away {
                    return Err(away());
                }
                let one = world.one(id)?;
                one.exit_code.filter(|_| !one.running)
            };
            if let Some(code) = over {
                return Ok(code);
            }
            changes.changed().await.map_err(|_| away())?;
        }
    }

    async fn kill(&self, id: &ContainerId) -> Result<(), EngineError> {
        let killed = |world: &mut World| {
            if let Ok(one) = world.one(id)
                && one.running
            {
                one.running = false;
                one.exit_code = Some(KILLED);
            }
            Ok(())
        };
        self.turn(Call::Kill, killed).await
    }

    async fn remove(&self, id: &ContainerId) -> Result<(), EngineError> {
        // By its id or by its name, as a real one.
        let removed = |world: &mut World| {
            world.containers.retain(|key, one| {
                *key != id.0 && one.spec.sandbox.container() != id.0
            });
            Ok(())
        };
        self.turn(Call::Remove, removed).await
    }

    async fn own(
        &self,
        node: &NodeId,
    ) -> Result<Vec<OwnContainer>, EngineError> {
        self.turn(Call::Own, |world| Ok(world.own(node))).await
    }
}
