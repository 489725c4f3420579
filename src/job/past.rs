use super::view::{EndedJob, RunningJob};
use crate::contract::JobId;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Ended jobs kept for whoever looks: some screens of them. What is owed to
/// a dispatcher is the ledger's, and does not depend on this.
const KEPT: usize = 100;

/// The last jobs that ended.
#[derive(Debug, Default)]
pub(crate) struct Past {
    ended: Mutex<VecDeque<EndedJob>>,
}

impl Past {
    pub(crate) fn keep(&self, job: EndedJob) {
        let mut ended = self.ended();
        ended.truncate(KEPT - 1);
        ended.push_front(job);
    }

    /// All of them, the newest first.
    pub(crate) fn all(&self) -> Vec<EndedJob> {
        self.ended().iter().cloned().collect()
    }

    fn ended(&self) -> MutexGuard<'_, VecDeque<EndedJob>> {
        // One push or truncation: none is half done.
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EndedJob {
    /// Which job.
    pub fn id(&self) -> &JobId {
        let RunningJob { id, .. } = &self.job;
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{ExitReason, Limits, RuntimeClass, Timestamp, Usage};
    use crate::job::testing::{dispatcher, job_id, plan};
    use std::time::Duration;

    fn ended(nth: u64) -> EndedJob {
        let span = Duration::from_secs(1);
        EndedJob {
            job: RunningJob {
                id: job_id(1, nth),
                dispatcher: dispatcher("alice"),
                class: RuntimeClass::Function,
                artifact: plan(1).artifacts[0].id.clone(),
                phase: crate::contract::JobPhase::Ended,
                received: Timestamp(nth),
                started: None,
                started_mono: None,
                limits: Limits {
                    wall: span,
                    cpu: span,
                    memory: crate::contract::Bytes::mib(1),
                },
                used: crate::job::view::Used::default(),
            },
            reason: ExitReason::Exited,
            code: Some(0),
            usage: Usage::default(),
            reasons: Vec::new(),
            at: Timestamp(nth),
            acked: false,
        }
    }

    #[test]
    fn the_newest_come_first_and_the_oldest_go() {
        let past = Past::default();
        for nth in 1..=150 {
            past.keep(ended(nth));
        }
        let all = past.all();
        assert_eq!(all.len(), KEPT);
        assert_eq!((all[0].at, all[99].at), (Timestamp(150), Timestamp(51)));
    }
}
