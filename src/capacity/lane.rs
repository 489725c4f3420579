use super::reading::Reading;
use super::{CapacityError, Resource};
use crate::contract::{MonoMs, Now};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// A driver that wakes up, or a disk that spins up, takes a few seconds; a
/// first answer that is later than this is a fault.
const FIRST_MS: u64 = 5000;

/// Reads one resource, as often as it is asked.
pub(super) type Reader<T> = Box<dyn FnMut(Now) -> Reading<T>>;

/// Makes a reader, on the thread that will use it.
pub(super) type Maker<T> = Arc<dyn Fn() -> Reader<T> + Send + Sync>;

/// One resource read on a thread of its own. A thread that sleeps in the
/// kernel can be neither ended nor waited for, so it is no task of the
/// runtime: it ends with its channel, or with the process.
pub(super) struct Lane<T> {
    resource: Resource,
    maker: Maker<T>,
    ends: Option<Ends<T>>,
    /// Since when a question is open.
    asked: Option<MonoMs>,
    answered: bool,
}

struct Ends<T> {
    questions: SyncSender<Now>,
    answers: mpsc::Receiver<Reading<T>>,
}

impl<T: Send + 'static> Lane<T> {
    pub(super) fn new(resource: Resource, maker: Maker<T>) -> Self {
        Self { resource, maker, ends: None, asked: None, answered: false }
    }

    /// The resource now, or within `limit` why not. While a question is
    /// open no other is asked: the answer is absent at once.
    pub(super) async fn ask(
        &mut self,
        now: Now,
        limit: Duration,
    ) -> Reading<T> {
        self.discard_late();
        if let Some(since) = self.asked {
            return self.silent(now.mono, since);
        }
        let mut ends = match self.ends.take().map_or_else(|| self.open(), Ok) {
            Ok(ends) => ends,
            Err(error) => return Reading::warned(error.line()),
        };
        if ends.questions.try_send(now).is_err() {
            return self.gone();
        }
        let since = *self.asked.insert(now.mono);
        let answer = timeout(limit, ends.answers.recv()).await;
        match answer {
            Ok(Some(reading)) => {
                self.ends = Some(ends);
                self.asked = None;
                self.answered = true;
                reading
            }
            Ok(None) => self.gone(),
            Err(_) => {
                self.ends = Some(ends);
                let waited = u64::try_from(limit.as_millis());
                let waited = waited.unwrap_or(u64::MAX);
                let until = MonoMs(since.0.saturating_add(waited));
                self.silent(until, since)
            }
        }
    }

    /// An answer that comes late tells of a moment that has passed.
    fn discard_late(&mut self) {
        use mpsc::error::TryRecvError;
        if self.asked.is_none() {
            return;
        }
        match self.ends.as_mut().map(|ends| ends.answers.try_recv()) {
            Some(Ok(_)) => {
                self.asked = None;
                self.answered = true;
            }
            Some(Err(TryRecvError::Empty)) => {}
            Some(Err(TryRecvError::Disconnected)) | None => {
                self.asked = None;
                self.ends = None;
            }
        }
    }

    fn silent(&self, now: MonoMs, since: MonoMs) -> Reading<T> {
        let waited = now.0.saturating_sub(since.0);
        if !self.answered && waited < FIRST_MS {
            return Reading::noted("the first reading is under way".into());
        }
        let seconds = waited as f64 / 1000.0;
        Reading::warned(format!("has not answered for {seconds:.1} s"))
    }

    /// The thread ended, which only a panic does: the next question starts
    /// another.
    fn gone(&mut self) -> Reading<T> {
        self.asked = None;
        tracing::warn!(
            resource = self.resource.as_str(),
            "a sampler ended and is started anew"
        );
        Reading::warned("the sampler ended and is started anew".into())
    }

    fn open(&self) -> Result<Ends<T>, CapacityError> {
        // One question is open at a time, so one place is enough each way.
        let (questions, asked) = sync_channel(1);
        let (answer, answers) = mpsc::channel(1);
        let maker = Arc::clone(&self.maker);
        let resource = self.resource.as_str();
        thread::Builder::new()
            .name(format!("sample-{resource}"))
            .spawn(move || serve(maker(), &asked, &answer))
            .map_err(|source| CapacityError::Thread { resource, source })?;
        Ok(Ends { questions, answers })
    }
}

fn serve<T>(
    mut read: Reader<T>,
    asked: &Receiver<Now>,
    answer: &mpsc::Sender<Reading<T>>,
) {
    while let Ok(now) = asked.recv() {
        if answer.blocking_send(read(now)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Lane, Reader};
    use crate::capacity::Resource;
    use crate::capacity::reading::Reading;
    use crate::contract::{MonoMs, Now};
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::{Arc, Mutex, mpsc};
    use std::time::Duration;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(1);

    fn found(value: u32) -> Reading<u32> {
        Reading { value: Some(value), ..Reading::absent() }
    }

    fn at(ms: u64) -> Now {
        Now { mono: MonoMs(ms), ..Now::default() }
    }

    #[tokio::test]
    async fn a_reader_that_sleeps_is_absent_until_it_wakes() {
        let (wake, slept) = mpsc::channel::<()>();
        let slept = Arc::new(Mutex::new(slept));
        let maker = move || -> Reader<u32> {
            let slept = Arc::clone(&slept);
            Box::new(move |now| {
                if now.mono.0 == 1 {
                    slept.lock().unwrap().recv().unwrap();
                }
                found(7)
            })
        };
        let mut lane = Lane::new(Resource::Disk, Arc::new(maker));
        assert_eq!(lane.ask(at(0), LONG).await.value, Some(7));
        let asleep = lane.ask(at(1), SHORT).await;
        assert_eq!(asleep.value, None);
        assert!(asleep.warnings[0].starts_with("has not answered"));
        // No wait at all: the limit would be a minute.
        let asleep = lane.ask(at(2501), LONG).await;
        assert_eq!(asleep.warnings, ["has not answered for 2.5 s"]);
        wake.send(()).unwrap();
        let mut now = 3000;
        while lane.ask(at(now), LONG).await.value.is_none() {
            now += 1;
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_reader_that_panics_is_started_anew() {
        let made = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&made);
        let maker = move || -> Reader<u32> {
            let turn = count.fetch_add(1, Ordering::SeqCst);
            Box::new(move |_| {
                assert!(turn > 0, "the first reader panics");
                found(turn)
            })
        };
        let mut lane = Lane::new(Resource::Gpu, Arc::new(maker));
        let broken = lane.ask(at(0), LONG).await;
        assert!(broken.warnings[0].contains("started anew"));
        assert_eq!(lane.ask(at(1), LONG).await.value, Some(1));
    }
}
