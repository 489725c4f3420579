//! The daemon: everything built, in an order in which nothing can be asked
//! of what is not there, and ended in the reverse.

use super::backend::NodeBackend;
use super::config::Config;
use super::engine_watch::watch_engine;
use super::identity::{node_id, ulid_at};
use super::init_binary::{InitFault, check_init};
use super::link_config::{Instance, link_config};
use super::offers::{OfferLog, adapt};
use super::plans::{capacity_config, offer_plan};
use super::senses::Senses;
use super::{IdentityError, asks, glue, random, state_dir};
use crate::capacity;
use crate::contract::{Clock, Subjects};
use crate::control::{ControlLimits, ControlServer, SocketError};
use crate::engine::{Docker, SandboxId};
use crate::job::{Jobs, JobsHandle, JobsParts, Standing, Vital};
use crate::ledger::Ledger;
use crate::link::{Inbound, Link, LinkHandle};
use crate::offer::{self, Latencies, OfferParts};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::{info, warn};

/// Why a daemon cannot run here.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// Containers, cgroups and users of jobs need root.
    #[error("ovnode runs as root, and this is user {uid}: start it with sudo")]
    NotRoot {
        /// Who it is.
        uid: u32,
    },
    /// Its id.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// PID 1 of its sandboxes.
    #[error("no sandbox could be started")]
    Init(#[from] InitFault),
    /// Its state directory.
    #[error("cannot use the state directory `{path}`")]
    State {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Another daemon has it.
    #[error("another ovnode runs over the state directory `{path}`")]
    Another {
        /// Which.
        path: PathBuf,
    },
    /// The local socket.
    #[error(transparent)]
    Control(#[from] SocketError),
}

/// How long each step of the end may take. Together they stay under the 30 s
/// that systemd is asked for.
#[derive(Clone, Copy, Debug)]
struct Patience {
    jobs: Duration,
    farewell: Duration,
    tasks: Duration,
}

const PATIENCE: Patience = Patience {
    // A job's own grace, twice, and what the engine needs to remove it.
    jobs: Duration::from_secs(17),
    // Twice: for the last offers to be composed, and to be heard.
    farewell: Duration::from_secs(4),
    tasks: Duration::from_secs(4),
};

/// A running daemon.
pub struct Daemon {
    jobs: JobsHandle,
    link: LinkHandle,
    senses: Senses,
    voice: Voice,
    vital: Vital,
    _lock: state_dir::Lock,
}

/// The offers: what was said, and how they are ended.
struct Voice {
    log: OfferLog,
    tasks: TaskTracker,
    quiet: CancellationToken,
}

impl Daemon {
    /// Builds and starts everything. It is of use as soon as NATS and the
    /// engine are there, and waits for both.
    ///
    /// # Errors
    /// Where no waiting would help: another user than root, another daemon
    /// over the same state, an id that is not this node's.
    pub async fn start(
        config: Config,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, DaemonError> {
        let uid = rustix::process::geteuid();
        if !uid.is_root() {
            return Err(DaemonError::NotRoot { uid: uid.as_raw() });
        }
        let lock = state_dir::take(&config.node.state_dir)?;
        let started = clock.now().wall;
        let run = Instance {
            node: node_id(
                &config.node.state_dir,
                config.node.id.as_ref(),
                started,
            )?,
            id: ulid_at(started),
            started,
        };
        check_init(&config.engine.init)?;
        let limits = ControlLimits::default();
        let server =
            ControlServer::bind(&config.control.socket, limits).await?;
        info!(node = %run.node, instance = run.id, "starting");
        let parts = Parts::new(Arc::new(config), run, clock);
        Ok(parts.build(server, lock))
    }

    /// Says the last words and ends everything, each step within a limit:
    /// nothing is taken any more, jobs are ended with reason `stopped`, the
    /// node says `down`, the tasks end.
    pub async fn end(self) {
        let Patience { jobs, farewell, tasks } = PATIENCE;
        if let Err(left) = self.jobs.shutdown(jobs).await {
            warn!(left, "jobs were still here at the deadline");
        }
        self.voice.quiet.cancel();
        self.voice.tasks.close();
        let said = self.voice.tasks.wait();
        if tokio::time::timeout(farewell, said).await.is_err() {
            warn!("the last offers were not composed in time");
        }
        if let Err(error) = self.link.farewell(farewell).await {
            warn!(%error, "the last words may not have been heard");
        }
        let all = self.vital.tasks();
        self.vital.stop().cancel();
        all.close();
        match tokio::time::timeout(tasks, all.wait()).await {
            Ok(()) => info!("ended"),
            Err(_late) => {
                warn!(left = all.len(), "tasks did not end in time");
            }
        }
    }

    /// Waits until a task died without which it is of no use.
    pub async fn died(&self) {
        self.vital.died().await;
    }

    /// What the daemon is doing, in one line.
    pub fn summary(&self) -> String {
        self.senses.summary()
    }
}

/// What everything is built from.
struct Parts {
    config: Arc<Config>,
    run: Instance,
    clock: Arc<dyn Clock>,
    vital: Vital,
}

impl Parts {
    fn new(config: Arc<Config>, run: Instance, clock: Arc<dyn Clock>) -> Self {
        Self { config, run, clock, vital: Vital::default() }
    }

    fn build(self, server: ControlServer, lock: state_dir::Lock) -> Daemon {
        let latencies = Latencies::default();
        let (link, inbound) = self.link();
        let engine = Arc::new(Docker::connect(&self.config.engine.socket));
        let (memory, room) = watch::channel(None);
        let Inbound { jobs, controls, asks } = inbound;
        let jobs = self.jobs(JobsWiring {
            engine: Arc::clone(&engine),
            link: &link,
            latencies: &latencies,
            requests: (jobs, controls),
            room,
        });
        let senses = self.senses(&engine, &link, &jobs);
        let glued = glue::GlueParts {
            senses: senses.clone(),
            jobs: jobs.clone(),
            link: link.clone(),
            memory,
            latencies: latencies.clone(),
        };
        let views = glue::start(glued, &self.vital);
        let voice = self.speak(&senses, &link, views, latencies);
        let answers = asks::AsksTask {
            asks,
            senses: senses.clone(),
            engine,
            offers: voice.log.clone(),
        };
        let (stop, tasks) = (self.vital.stop(), self.vital.tasks());
        self.vital.spawn("asks", answers.run(stop.clone()));
        let log = voice.log.clone();
        let backend = NodeBackend::new(&senses, &jobs, log, tasks);
        server.serve(Arc::new(backend), tasks, stop.clone());
        jobs.set_standing(Standing::Open);
        let vital = self.vital;
        Daemon { jobs, link, senses, voice, vital, _lock: lock }
    }

    /// Starts the offers, on a tracker of their own: their last word comes
    /// before the end of everything else.
    fn speak(
        &self,
        senses: &Senses,
        link: &LinkHandle,
        views: watch::Receiver<offer::JobView>,
        latencies: Latencies,
    ) -> Voice {
        let (tasks, quiet) = (TaskTracker::new(), CancellationToken::new());
        let log = OfferLog::default();
        let said = OfferParts {
            plan: Arc::new(offer_plan(&self.config, &self.run.node)),
            snapshots: senses.snapshots.clone(),
            views,
            latencies,
            clock: Arc::clone(&self.clock),
            out: Arc::new(adapt(&self.config, link, &log, &self.clock)),
        };
        offer::start(said, &tasks, quiet.clone());
        Voice { log, tasks, quiet }
    }

    fn link(&self) -> (LinkHandle, Inbound) {
        let config = link_config(&self.config, &self.run);
        let clock = Arc::clone(&self.clock);
        let (tasks, stop) = (self.vital.tasks(), self.vital.stop());
        Link::start(config, clock, tasks, stop.clone())
    }

    fn jobs(&self, wiring: JobsWiring<'_>) -> JobsHandle {
        let (config, clock) = (&self.config, Arc::clone(&self.clock));
        let subjects = Subjects::new(config.nats.prefix.clone());
        let names = Arc::clone(&self.clock);
        let server = wiring.link.clone();
        Jobs::start(JobsParts {
            plan: config.job_plan(),
            names: (subjects, self.run.node.clone()),
            engine: wiring.engine,
            ledger: Ledger::in_memory(self.run.started),
            outbox: wiring.link.outbox(),
            requests: wiring.requests,
            clock,
            sandboxes: Arc::new(move || {
                SandboxId(format!("sb_{}", ulid_at(names.now().wall)))
            }),
            jitter: Arc::new(random::share),
            max_payload: Arc::new(move || server.max_payload()),
            memory: wiring.room,
            timed: glue::timed(wiring.latencies.clone()),
            probe_every: config.intervals.probe,
            vital: self.vital.clone(),
        })
    }

    fn senses(
        &self,
        engine: &Arc<Docker>,
        link: &LinkHandle,
        jobs: &JobsHandle,
    ) -> Senses {
        let clock = || Arc::clone(&self.clock);
        // Where the engine keeps its data unless it says otherwise; it may
        // not be there to be asked.
        let data_root = PathBuf::from("/var/lib/docker");
        let measured = capacity_config(&self.config, data_root);
        Senses {
            config: Arc::clone(&self.config),
            run: self.run.clone(),
            clock: clock(),
            snapshots: capacity::watch(
                measured,
                clock(),
                self.vital.tasks(),
                self.vital.stop().clone(),
            ),
            link: link.state(),
            engine: watch_engine(Arc::clone(engine), clock(), &self.vital),
            jobs: jobs.view(),
        }
    }
}

/// What the side of the jobs is joined to.
struct JobsWiring<'a> {
    engine: Arc<Docker>,
    link: &'a LinkHandle,
    latencies: &'a Latencies,
    requests: (
        tokio::sync::mpsc::Receiver<crate::link::Received>,
        tokio::sync::mpsc::Receiver<crate::link::Received>,
    ),
    room: watch::Receiver<Option<crate::contract::Bytes>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_over_before_systemd_kills() {
        let unit = include_str!("../../systemd/ovnode.service");
        let limit =
            unit.lines().find_map(|it| it.strip_prefix("TimeoutStopSec="));
        let limit = limit.unwrap().parse().unwrap();
        let Patience { jobs, farewell, tasks } = PATIENCE;
        assert!(jobs + farewell * 2 + tasks < Duration::from_secs(limit));
    }
}
