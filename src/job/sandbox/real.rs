use super::kept::{Container, KeptRecord, on_disk};
use super::watch::PidWatch;
use super::{Look, Piece, Sandbox, Tail, Word};
use crate::contract::Bytes;
use crate::engine::cgroup::Cgroup;
use crate::engine::record::{Line, Record, RingRead, RingReader};
use crate::engine::{ContainerId, Engine, EngineError};
use crate::init::{ExitRecord, FromInit, Identity, Orders, ToInit};
use crate::job::shelf::KeptOutput;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

/// How long a cancel may take on its way to PID 1, which reads whenever it
/// is not throttled: one that is will be killed from outside.
const TELL: Duration = Duration::from_secs(1);
/// PID 1 has nothing to do after its last word but to exit.
const LAST_WORD: Duration = Duration::from_secs(5);
/// One connection of PID 1 is waited for so long at a time.
const ACCEPT: Duration = Duration::from_secs(3600);
/// Pause after a connection that could not be taken, as where the daemon has
/// no file left to open: PID 1 tries once a second too.
const ACCEPT_AGAIN: Duration = Duration::from_secs(1);

/// One sandbox over a real engine.
pub(crate) struct RealSandbox<E> {
    pub(super) engine: Arc<E>,
    pub(super) tasks: TaskTracker,
    pub(super) id: ContainerId,
    pub(super) container: Option<Container>,
    pub(super) record: Arc<KeptRecord>,
    pub(super) line: Option<Line>,
    pub(super) watch: PidWatch,
    pub(super) cgroup: Cgroup,
    pub(super) stdout: RingReader,
    pub(super) env: BTreeMap<String, String>,
    pub(super) result: Bytes,
    pub(super) pid: u32,
    pub(super) exit_by: Option<Instant>,
}

/// What one wait in a sandbox ends with.
enum Heard {
    Line(Option<FromInit>),
    Connected(Line),
    Dead,
    Late,
}

impl<E> RealSandbox<E> {
    /// Its PID 1, on the host.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    async fn hear(&mut self) -> Heard {
        let record = self.record.clone();
        let late = self.exit_by;
        tokio::select! {
            biased; // what it said before it died is heard first
            word = line(&mut self.line), if self.line.is_some() => {
                Heard::Line(word)
            }
            () = self.watch.dead() => Heard::Dead,
            line = connected(|| accept(&record)), if self.line.is_none() => {
                Heard::Connected(line)
            }
            () = until(late), if late.is_some() => Heard::Late,
        }
    }
}

async fn line(line: &mut Option<Line>) -> Option<FromInit> {
    match line {
        Some(line) => line.recv().await,
        None => std::future::pending().await,
    }
}

async fn accept(record: &KeptRecord) -> Result<Line, EngineError> {
    record.get()?.accept(ACCEPT).await
}

/// The next connection, however often taking it fails.
async fn connected<T, F>(accept: impl Fn() -> F) -> T
where
    F: Future<Output = Result<T, EngineError>>,
{
    loop {
        match accept().await {
            Ok(line) => return line,
            Err(err) => {
                tracing::debug!(error = %err, "PID 1 is not connected");
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
        }
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

impl<E: Engine> Sandbox for RealSandbox<E> {
    async fn order(
        &mut self,
        identity: Identity,
        orders: Orders,
    ) -> Result<(), String> {
        let said = |err: EngineError| err.to_string();
        let record = self.record.clone();
        let identify = move || record.get()?.identify(&identity);
        on_disk(&self.tasks, identify).await.map_err(said)?;
        let Some(line) = &mut self.line else {
            return Err("PID 1 is not connected".to_owned());
        };
        line.send(&ToInit::Run(Box::new(orders))).await.map_err(said)
    }

    async fn next(&mut self) -> Word {
        loop {
            match self.hear().await {
                Heard::Line(Some(FromInit::Started { mono_ms })) => {
                    return Word::Started { mono_ms };
                }
                Heard::Line(Some(FromInit::Output { .. })) => {
                    return Word::Output;
                }
                Heard::Line(Some(FromInit::Ended)) => {
                    self.exit_by = Some(Instant::now() + LAST_WORD);
                }
                Heard::Line(Some(FromInit::Ready { .. })) => {}
                // It may connect again, and its end is seen anyway.
                Heard::Line(None) => self.line = None,
                Heard::Connected(line) => self.line = Some(line),
                Heard::Dead => return Word::Gone,
                Heard::Late => {
                    self.exit_by = Some(Instant::now() + LAST_WORD);
                    kill_group(&self.cgroup);
                }
            }
        }
    }

    async fn term(&mut self, grace: Duration) {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        let Some(line) = &mut self.line else { return };
        let cancel = ToInit::Cancel { grace_ms };
        let told = tokio::time::timeout(TELL, line.send(&cancel)).await;
        if !matches!(told, Ok(Ok(()))) {
            // Half a line may be out: nothing more can be said on it.
            self.line = None;
        }
    }

    fn kill(&self) -> impl Future<Output = ()> + Send + 'static {
        let (engine, id) = (self.engine.clone(), self.id.clone());
        let cgroup = self.cgroup.clone();
        async move {
            kill_group(&cgroup);
            if let Err(err) = engine.kill(&id).await {
                tracing::warn!(error = %err, "the engine did not kill");
            }
        }
    }

    fn look(&self) -> Look {
        let usage = self.cgroup.usage();
        Look {
            cpu: usage.cpu,
            memory_peak: usage.memory_peak,
            oom_kills: usage.oom_kills,
            processes: usage.processes,
        }
    }

    fn read(&mut self, from: u64, max: usize) -> Result<Piece, String> {
        let read = self.stdout.read(from, max).map_err(|e| e.to_string())?;
        Ok(Piece { start: read.start, bytes: read.bytes })
    }

    fn end(&mut self) -> Result<Option<(ExitRecord, Vec<u8>)>, String> {
        let read = || {
            let record = self.record.get()?;
            let Some(exit) = record.exit()? else { return Ok(None) };
            let result = record.result(self.result)?;
            Ok(Some((exit, result)))
        };
        read().map_err(|err: EngineError| err.to_string())
    }

    fn image_env(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    fn release(&mut self) {
        self.container = None;
    }

    fn tail(&self) -> Box<dyn Tail> {
        let stdout = self.record.get().ok().map(Record::stdout);
        Box::new(RealTail { stdout, _record: self.record.clone() })
    }
}

fn kill_group(cgroup: &Cgroup) {
    let killed = cgroup.lift_quota().and(cgroup.kill_all());
    if let Err(err) = killed {
        tracing::warn!(error = %err, "the cgroup was not killed");
    }
}

struct RealTail {
    stdout: Option<RingReader>,
    _record: Arc<KeptRecord>,
}

impl Tail for RealTail {
    fn read(&mut self, from: u64, most: usize) -> Result<KeptOutput, String> {
        let Some(stdout) = &mut self.stdout else {
            return Ok(KeptOutput::default());
        };
        let read = stdout.read(from, most).map_err(|err| err.to_string())?;
        let RingRead { start, bytes, end } = read;
        Ok(KeptOutput { start, bytes, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_cannot_be_taken_is_tried_once_a_second() {
        let (tries, began) = (Cell::new(0), Instant::now());
        let accept = async || {
            tries.set(tries.get() + 1);
            let full = || EngineError::NotAsAsked("no file left".to_owned());
            if tries.get() < 4 { Err(full()) } else { Ok(tries.get()) }
        };
        assert_eq!(connected(accept).await, 4);
        assert_eq!(began.elapsed(), ACCEPT_AGAIN * 3);
    }
}
