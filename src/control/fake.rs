use super::{Backend, BackendError, Documents, Payload, Reply};
use crate::contract::JobId;
use futures::{StreamExt as _, stream};
use std::sync::Mutex;
use tokio::sync::watch;

/// A daemon without one: documents that a test puts in, and what it was
/// asked to do.
pub struct FakeBackend {
    /// Answered as the status.
    pub status: Payload,
    /// The one job that there is.
    pub job: JobId,
    /// Its output, piece by piece; the last one again and again where
    /// `endless`.
    pub output: Vec<Payload>,
    /// Whether a followed stream goes on for ever.
    pub endless: bool,
    /// What was asked to be done, in order.
    pub asked: Mutex<Vec<String>>,
    open: watch::Sender<usize>,
}

impl FakeBackend {
    /// A daemon with one job.
    pub fn new(status: impl Into<Payload>, job: JobId) -> Self {
        Self {
            status: status.into(),
            job,
            output: Vec::new(),
            endless: false,
            asked: Mutex::new(Vec::new()),
            open: watch::Sender::new(0),
        }
    }

    /// How many streams are open, as it changes.
    pub fn open_streams(&self) -> watch::Receiver<usize> {
        self.open.subscribe()
    }

    fn known(&self, id: &JobId) -> Result<(), BackendError> {
        if *id == self.job {
            return Ok(());
        }
        Err(BackendError::NotFound(format!("this node knows no job {id}")))
    }

    fn note(&self, what: String) {
        if let Ok(mut asked) = self.asked.lock() {
            asked.push(what);
        }
    }

    fn pieces(&self, follow: bool) -> Documents {
        self.open.send_modify(|open| *open += 1);
        let ending = Ending(self.open.clone());
        let pieces = stream::iter(self.output.clone());
        let tail = self.output.last().cloned().filter(|_| self.endless);
        let tail = stream::iter(tail).cycle().take(if follow {
            usize::MAX
        } else {
            0
        });
        pieces
            .chain(tail)
            .map(move |piece| {
                let _still = &ending;
                Ok(piece)
            })
            .boxed()
    }
}

/// Counts a stream out when it is dropped.
struct Ending(watch::Sender<usize>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

impl Backend for FakeBackend {
    async fn status(&self) -> Result<Payload, BackendError> {
        // An empty status is a daemon that does not answer.
        if self.status.is_empty() {
            std::future::pending::<()>().await;
        }
        Ok(self.status.clone())
    }

    async fn jobs(&self) -> Result<Payload, BackendError> {
        let job = &self.job;
        Ok(format!(r#"{{"jobs":[{{"id":"{job}","class":"code"}}]}}"#).into())
    }

    async fn job(&self, id: &JobId) -> Result<Payload, BackendError> {
        self.known(id)?;
        Ok(format!(r#"{{"id":"{id}","class":"code"}}"#).into())
    }

    async fn logs(
        &self,
        id: &JobId,
        follow: bool,
    ) -> Result<Documents, BackendError> {
        self.known(id)?;
        Ok(self.pieces(follow))
    }

    async fn offers(&self) -> Result<Payload, BackendError> {
        Ok(Payload::from_static(b"[]"))
    }

    fn follow_offers(&self) -> impl Reply<Documents> {
        std::future::ready(Ok(self.pieces(true)))
    }

    async fn cancel(&self, id: &JobId) -> Result<(), BackendError> {
        self.known(id)?;
        self.note(format!("cancel {id}"));
        Ok(())
    }

    async fn probe(&self) -> Result<(), BackendError> {
        self.note("probe".to_owned());
        let text = "the container engine does not answer".to_owned();
        Err(BackendError::Unavailable(text))
    }
}
