//! What the rooms below tell each other through the daemon: how the node is
//! becomes what is offered and whether jobs are taken.

use super::engine_watch::EngineState;
use super::findings::job_view;
use super::senses::{Look, Senses};
use crate::contract::{Bytes, Reason, ReasonCode};
use crate::job::{JobsHandle, Timed, Vital};
use crate::link::LinkHandle;
use crate::offer::{Condition, Finding, JobView, Latencies, Operation};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// What is glued.
pub(crate) struct GlueParts {
    pub(crate) senses: Senses,
    pub(crate) jobs: JobsHandle,
    pub(crate) link: LinkHandle,
    /// Memory that a further job could have.
    pub(crate) memory: watch::Sender<Option<Bytes>>,
    pub(crate) latencies: Latencies,
}

/// Times of the side of the jobs become the offer's latencies.
pub(crate) fn timed(latencies: Latencies) -> Timed {
    let record = move |what, took| latencies.record(what, took);
    Timed {
        ack: Arc::new({
            let record = record.clone();
            move |took| record(Operation::Ack, took)
        }),
        start: Arc::new(move |class, took| {
            record(Operation::Start(class), took);
        }),
    }
}

/// Starts the task; the side of the jobs as the offer room sees it.
pub(crate) fn start(
    parts: GlueParts,
    vital: &Vital,
) -> watch::Receiver<JobView> {
    let (views, seen) = watch::channel(JobView::default());
    let task = GlueTask {
        session: None,
        engine_was_away: false,
        trips: parts.link.round_trips(),
        views,
        parts,
    };
    vital.spawn("glue", task.run(vital.stop().clone()));
    seen
}

struct GlueTask {
    parts: GlueParts,
    views: watch::Sender<JobView>,
    trips: watch::Receiver<crate::link::RoundTrip>,
    /// The connection that served last.
    session: Option<u64>,
    /// Whether the engine was away since it last answered.
    engine_was_away: bool,
}

enum Input {
    Stop,
    Trip,
    Changed,
}

impl GlueTask {
    async fn run(mut self, stop: CancellationToken) {
        loop {
            self.look();
            match self.next(&stop).await {
                Input::Stop => return,
                Input::Trip => {
                    let took = self.trips.borrow_and_update().took;
                    self.parts.latencies.record(Operation::Publish, took);
                }
                Input::Changed => {}
            }
        }
    }

    async fn next(&mut self, stop: &CancellationToken) -> Input {
        let Senses { snapshots, link, engine, jobs, .. } =
            &mut self.parts.senses;
        tokio::select! {
            biased; // changes without end must not hide the stop
            () = stop.cancelled() => Input::Stop,
            true = changed(link) => Input::Changed,
            true = changed(engine) => Input::Changed,
            true = changed(jobs) => Input::Changed,
            true = changed(snapshots) => Input::Changed,
            true = changed(&mut self.trips) => Input::Trip,
            // Every sender is gone only at the end; then `stop` is next.
            else => {
                tokio::time::sleep(Duration::from_secs(1)).await;
                Input::Changed
            }
        }
    }

    /// Takes one look and tells everyone what it means for them.
    fn look(&mut self) {
        let look = self.parts.senses.look();
        let facts = self.parts.senses.facts(&look);
        let plan = self.parts.senses.config.job_plan();
        let view = job_view(&facts, &plan);
        self.parts.jobs.hold_back(held_back(&view.findings));
        self.memory(&look);
        self.edges(&look);
        self.views.send_if_modified(|seen| {
            let differs = *seen != view;
            *seen = view;
            differs
        });
    }

    /// What is over of the memory when the owner's reserve and all promises
    /// are taken from it.
    fn memory(&self, look: &Look) {
        let reserve = self.parts.senses.config.reserve.memory;
        let over = look.snapshot.memory.as_ref().map(|memory| {
            memory.available.minus(reserve).minus(look.jobs.promised.memory)
        });
        self.parts.memory.send_if_modified(|seen| {
            let differs = *seen != over;
            *seen = over;
            differs
        });
    }

    /// What follows from a change, once: exits are said again over a new
    /// connection, classes are probed on an engine that came back.
    fn edges(&mut self, look: &Look) {
        let session = look.link.session();
        if session.is_some() && session != self.session {
            self.session = session;
            self.parts.jobs.reconnected();
        }
        match &look.engine {
            EngineState::Up(_) => {
                // The first probes are made without being asked for.
                if std::mem::take(&mut self.engine_was_away) {
                    self.parts.jobs.probe_now();
                }
            }
            EngineState::Away { .. } | EngineState::Unsuited(_) => {
                self.engine_was_away = true;
            }
            EngineState::Unknown => {}
        }
    }
}

/// A change. Who has ended changes nothing any more.
async fn changed<T>(watched: &mut watch::Receiver<T>) -> bool {
    watched.changed().await.is_ok()
}

/// Why no job of any class is taken now, by what ails the node: what the
/// jobs room does not see for itself.
fn held_back(findings: &[Finding]) -> Option<Reason> {
    findings.iter().find_map(|finding| {
        let code = match finding.condition {
            Condition::EngineAway => ReasonCode::EngineAway,
            Condition::DiskLow => ReasonCode::DiskLow,
            Condition::Starting
            | Condition::NatsDeaf
            | Condition::ClassFaulty(_)
            | Condition::ClassMissing(_)
            | Condition::GpuDriver
            | Condition::GpuLost
            | Condition::Unmeasured
            | Condition::Duplicate
            | Condition::Paused
            | Condition::Draining
            | Condition::Latched
            | Condition::Stopping => return None,
        };
        Some(Reason::new(code, finding.text.clone()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_that_is_away_and_a_full_disk_hold_all_jobs_back() {
        let found = |condition| [Finding::new(condition, "why")];
        let away = held_back(&found(Condition::EngineAway)).unwrap();
        assert_eq!(away.code, ReasonCode::EngineAway);
        let full = held_back(&found(Condition::DiskLow)).unwrap();
        assert_eq!(full.code, ReasonCode::DiskLow);
        assert_eq!(held_back(&found(Condition::NatsDeaf)), None);
    }
}
