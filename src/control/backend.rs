use crate::contract::JobId;
use futures::Stream;
use std::future::Future;
use std::pin::Pin;

/// The bytes of a document, or of a part of a stream.
pub use bytes::Bytes as Payload;

/// A `Send` future of this room's result.
pub trait Reply<T>: Future<Output = Result<T, BackendError>> + Send {}
impl<T, F> Reply<T> for F where
    F: Future<Output = Result<T, BackendError>> + Send
{
}

/// What follows one after the other. Whoever makes it keeps its buffer
/// bounded: the server takes an item only when the reader has taken the last.
pub type Documents =
    Pin<Box<dyn Stream<Item = Result<Payload, BackendError>> + Send>>;

/// What the local socket asks of the daemon, and nothing more. Answers are
/// documents, ready to be sent; the server passes them on unread.
pub trait Backend: Send + Sync + 'static {
    /// The status document.
    fn status(&self) -> impl Reply<Payload>;
    /// `{"jobs": [..]}`: every job that the node remembers, the newest first.
    fn jobs(&self) -> impl Reply<Payload>;
    /// One job.
    fn job(&self, id: &JobId) -> impl Reply<Payload>;
    /// What is kept of a job's output, as bytes; with `follow` it goes on
    /// until the job ends.
    fn logs(&self, id: &JobId, follow: bool) -> impl Reply<Documents>;
    /// The offers as last published, one JSON array.
    fn offers(&self) -> impl Reply<Payload>;
    /// The offers as last published, then each as it is published: one item
    /// is one document without line breaks.
    fn follow_offers(&self) -> impl Reply<Documents>;
    /// Begins to end a job; its end is seen in the job's document.
    fn cancel(&self, id: &JobId) -> impl Reply<()>;
    /// Begins to probe every class anew; its outcome is seen in the status.
    fn probe(&self) -> impl Reply<()>;
}

/// Why the daemon does not answer what was asked; each with a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BackendError {
    /// There is no such thing here.
    #[error("{0}")]
    NotFound(String),
    /// Not now: too many ask, or it is being done already.
    #[error("{0}")]
    Busy(String),
    /// What is needed for an answer is not there.
    #[error("{0}")]
    Unavailable(String),
}
