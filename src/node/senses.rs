//! All that the daemon knows of itself, as watched values; whoever composes
//! a document takes one look at all of them.

use super::config::Config;
use super::engine_watch::EngineState;
use super::findings::{Facts, findings};
use super::link_config::Instance;
use super::report::{Seen, status};
use crate::capacity::Snapshot;
use crate::contract::{Clock, OfferReport, StatusDocument};
use crate::job::JobsView;
use crate::link::LinkState;
use crate::offer::Verdict;
use std::sync::Arc;
use tokio::sync::watch;

/// What is watched.
#[derive(Clone)]
pub(crate) struct Senses {
    pub(crate) config: Arc<Config>,
    pub(crate) run: Instance,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) snapshots: watch::Receiver<Snapshot>,
    pub(crate) link: watch::Receiver<LinkState>,
    pub(crate) engine: watch::Receiver<EngineState>,
    pub(crate) jobs: watch::Receiver<JobsView>,
}

/// One look at all of them.
pub(crate) struct Look {
    pub(crate) snapshot: Snapshot,
    pub(crate) link: LinkState,
    pub(crate) engine: EngineState,
    pub(crate) jobs: JobsView,
}

impl Senses {
    /// One look; no borrow of a watched value outlives it.
    pub(crate) fn look(&self) -> Look {
        Look {
            snapshot: self.snapshots.borrow().clone(),
            link: self.link.borrow().clone(),
            engine: self.engine.borrow().clone(),
            jobs: self.jobs.borrow().clone(),
        }
    }

    /// The look as facts.
    pub(crate) fn facts<'a>(&self, look: &'a Look) -> Facts<'a> {
        Facts {
            link: &look.link,
            engine: &look.engine,
            jobs: &look.jobs,
            disk: look.snapshot.disk.as_ref(),
            keep: self.config.reserve.disk,
        }
    }

    /// The status document of this moment.
    pub(crate) fn document(&self, offers: OfferReport) -> StatusDocument {
        let look = self.look();
        let verdict = Verdict::of(&findings(&self.facts(&look)));
        status(&Seen {
            config: &self.config,
            run: &self.run,
            snapshot: &look.snapshot,
            link: &look.link,
            engine: &look.engine,
            jobs: &look.jobs,
            verdict: &verdict,
            offers,
            now: self.clock.now(),
        })
    }

    /// What the daemon does, in one line, as systemd shows it.
    pub(crate) fn summary(&self) -> String {
        let look = self.look();
        let verdict = Verdict::of(&findings(&self.facts(&look)));
        let jobs = look.jobs.jobs.len();
        let health = verdict.status.as_str();
        match verdict.reasons.first() {
            None => format!("{health}; {jobs} jobs"),
            Some(why) => format!("{health}: {}; {jobs} jobs", why.text),
        }
    }
}
