//! What the local socket is answered.

use super::job_log::{JobLog, follow_log};
use super::offers::OfferLog;
use super::report::{ended, running};
use super::senses::Senses;
use crate::contract::{JobDocument, JobId, JobList, JobReport, Now};
use crate::control::{Backend, BackendError, Documents, Payload};
use crate::job::JobsHandle;
use futures::StreamExt as _;
use futures::stream;
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::task::TaskTracker;

/// What `logs` shows of a job at most: a terminal's worth many times over.
const TAIL_BYTES: usize = 1 << 20;

/// The daemon, as the local socket sees it.
pub(crate) struct NodeBackend {
    senses: Senses,
    jobs: JobsHandle,
    offers: OfferLog,
    tasks: TaskTracker,
}

impl NodeBackend {
    pub(crate) fn new(
        senses: &Senses,
        jobs: &JobsHandle,
        offers: OfferLog,
        tasks: &TaskTracker,
    ) -> Self {
        let (senses, jobs) = (senses.clone(), jobs.clone());
        Self { senses, jobs, offers, tasks: tasks.clone() }
    }
}

impl NodeBackend {
    /// The jobs that are here and the last that were, the newest first.
    fn remembered(&self, now: Now) -> Vec<JobReport> {
        let here = self.senses.jobs.borrow().jobs.clone();
        let past = self.jobs.past();
        let is_past = |id: &JobId| past.iter().any(|it| it.id() == id);
        let here = here.iter().rev().filter(|job| !is_past(&job.id));
        let here = here.map(|job| running(job, now));
        here.chain(past.iter().map(|job| ended(job, now))).collect()
    }
}

fn json(document: &impl Serialize) -> Result<Payload, BackendError> {
    let bytes = serde_json::to_vec(document);
    bytes.map(Payload::from).map_err(|err| {
        BackendError::Unavailable(format!("cannot write the answer: {err}"))
    })
}

fn not_here(id: &JobId) -> BackendError {
    BackendError::NotFound(format!("this node remembers no job {id}"))
}

impl Backend for NodeBackend {
    async fn status(&self) -> Result<Payload, BackendError> {
        json(&self.senses.document(self.offers.report()))
    }

    async fn jobs(&self) -> Result<Payload, BackendError> {
        let now = self.senses.clock.now();
        json(&JobList { at: now.wall, jobs: self.remembered(now) })
    }

    async fn job(&self, id: &JobId) -> Result<Payload, BackendError> {
        let now = self.senses.clock.now();
        let job = self.remembered(now).into_iter().find(|job| job.id == *id);
        let job = job.ok_or_else(|| not_here(id))?;
        json(&JobDocument { at: now.wall, job })
    }

    async fn logs(
        &self,
        id: &JobId,
        follow: bool,
    ) -> Result<Documents, BackendError> {
        let log = JobLog::new(&self.jobs, id, &self.tasks);
        let kept = log.last(TAIL_BYTES).await?;
        let at = kept.end_of_bytes();
        let first = stream::iter([Ok(Payload::from(kept.bytes))]);
        if !follow {
            return Ok(first.boxed());
        }
        Ok(first.chain(follow_log(log, at)).boxed())
    }

    async fn offers(&self) -> Result<Payload, BackendError> {
        let all = self.offers.last();
        let joined = all.join(&b","[..]);
        Ok([b"[", joined.as_slice(), b"]"].concat().into())
    }

    async fn follow_offers(&self) -> Result<Documents, BackendError> {
        let heard = self.offers.follow();
        let last = stream::iter(self.offers.last().into_iter().map(Ok));
        let next = stream::unfold(heard, |mut heard| async {
            loop {
                match heard.recv().await {
                    Ok(offer) => return Some((Ok(offer), heard)),
                    // A follower that is behind sees the newest next.
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                }
            }
        });
        Ok(last.chain(next).boxed())
    }

    async fn cancel(&self, id: &JobId) -> Result<(), BackendError> {
        self.jobs.cancel(id).map_err(|_| not_here(id))
    }

    async fn probe(&self) -> Result<(), BackendError> {
        self.jobs.probe_now();
        Ok(())
    }
}
