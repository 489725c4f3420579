use super::task::Supervisor;
use crate::contract::JobPhase;
use crate::job::sandbox::{Sandbox, Word, Workshop};
use crate::job::step::{Conclusion, Phase};
use crate::ledger::RowState;
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

/// How long a sandbox that is killed has to be gone: the kernel needs
/// milliseconds, unless the machine is under full load.
const DIES: Duration = Duration::from_secs(10);

impl<W: Workshop> Supervisor<W> {
    /// Runs the job to its exit, also where the daemon is at fault: a job
    /// that nobody supervises would hold its slot, and its dispatcher would
    /// never hear of it again.
    pub(crate) async fn run(mut self) {
        let lived = AssertUnwindSafe(self.live()).catch_unwind().await;
        if lived.is_err() {
            tracing::error!("the supervision of a job panicked: it is ended");
            self.fail().await;
        }
    }

    /// Ends it without asking what it was about to do.
    async fn fail(&mut self) {
        (self.opening, self.sending) = (None, None);
        let ended = AssertUnwindSafe(self.end_sandbox()).catch_unwind().await;
        if ended.is_err() {
            tracing::error!("the sandbox is left to its removal");
        }
        let row = self.context.ledger.lookup(self.id());
        if row.is_none_or(|row| row.state != RowState::Held) {
            return; // its exit is written, and is said until it is heard
        }
        let known = self.conclusion.take().map(|known| known.exit.usage);
        let since = (self.phase.since(), self.last);
        self.phase = Phase::Ended;
        let board = &self.context.board;
        board.update(self.id(), |job| job.phase = JobPhase::Ended);
        self.conclude(Conclusion::unsupervised(known, since));
        if let Some(exit) = self.exit_frame() {
            let stop = self.context.stop.clone();
            let sent = self.context.outbox.send(exit);
            // One that is not sent now is written, and said again.
            stop.run_until_cancelled(sent).await;
        }
    }

    /// Nothing of the job is alive when its slot becomes another's.
    async fn end_sandbox(&mut self) {
        let Some(mut sandbox) = self.sandbox.take().filter(|_| !self.gone)
        else {
            return;
        };
        sandbox.kill().await;
        let gone = async { while sandbox.next().await != Word::Gone {} };
        if tokio::time::timeout(DIES, gone).await.is_err() {
            tracing::warn!("the sandbox is not gone yet");
        }
    }
}

impl<W: Workshop> Drop for Supervisor<W> {
    /// However it ended, the job is here no more.
    fn drop(&mut self) {
        self.context.board.leave(&self.job.id);
    }
}
