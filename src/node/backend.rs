//! What the local socket is answered.

use super::offers::OfferLog;
use super::report::{ended, running};
use super::senses::Senses;
use crate::contract::{JobDocument, JobId, JobList, JobReport, Now};
use crate::control::{Backend, BackendError, Documents, Payload};
use crate::job::JobsHandle;
use futures::StreamExt as _;
use futures::stream;
use serde::Serialize;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// What `logs` shows of a job at most: a terminal's worth many times over.
const TAIL_BYTES: usize = 1 << 20;

/// How often a followed output is looked at again.
const LOOK: Duration = Duration::from_millis(250);

/// The daemon, as the local socket sees it.
pub(crate) struct NodeBackend {
    senses: Senses,
    jobs: JobsHandle,
    offers: OfferLog,
}

impl NodeBackend {
    pub(crate) fn new(
        senses: &Senses,
        jobs: &JobsHandle,
        offers: OfferLog,
    ) -> Self {
        Self { senses: senses.clone(), jobs: jobs.clone(), offers }
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
        let kept = self.jobs.logs(id, TAIL_BYTES);
        let kept = kept.map_err(|_| not_here(id))?;
        if !follow {
            let whole = stream::iter([Ok(Payload::from(kept))]);
            return Ok(whole.boxed());
        }
        let (jobs, id) = (self.jobs.clone(), id.clone());
        let first = stream::iter([Ok(Payload::from(kept.clone()))]);
        let rest = stream::unfold((jobs, id, kept), |at| async move {
            let (jobs, id, seen) = at;
            let next = follow_on(&jobs, &id, &seen).await?;
            let new = Payload::from(after(&seen, &next));
            Some((Ok(new), (jobs, id, next)))
        });
        Ok(first.chain(rest).boxed())
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

/// Waits until there is more output than was seen; `None` once the job is
/// gone and nothing follows.
async fn follow_on(
    jobs: &JobsHandle,
    id: &JobId,
    seen: &[u8],
) -> Option<Vec<u8>> {
    loop {
        let here = jobs.view().borrow().jobs.iter().any(|job| job.id == *id);
        let now = jobs.logs(id, TAIL_BYTES).ok()?;
        if now != seen {
            return Some(now);
        }
        if !here {
            return None;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// What is new in a tail since it was seen: it grows at its end and, once it
/// is full, loses its beginning.
fn after(seen: &[u8], now: &[u8]) -> Vec<u8> {
    if let Some(new) = now.strip_prefix(seen) {
        return new.to_vec();
    }
    let starts = 0..=seen.len();
    let kept = starts.map(|at| &seen[at..]).find(|it| now.starts_with(it));
    now[kept.map_or(0, <[u8]>::len)..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::after;

    #[test]
    fn what_is_new_in_a_tail_is_told_once() {
        assert_eq!(after(b"ab", b"abc"), b"c");
        assert_eq!(after(b"", b"abc"), b"abc");
        assert_eq!(after(b"abc", b"bcd"), b"d", "its beginning is lost");
        assert_eq!(after(b"abc", b"xyz"), b"xyz", "all of it is new");
    }
}
