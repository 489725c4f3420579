use crate::cli::render::OfferView;
use crate::contract::{Faults, Job, JobFrame, JobId, NodeId};
use crate::control::Payload;
use serde_json::Value;
use std::future::Future;

/// What `submit` asks of NATS and of the contract.
pub(super) trait Wire {
    /// A new job id of this moment.
    fn mint(&mut self) -> anyhow::Result<JobId>;
    /// The job in a document, or all that is wrong with it.
    fn check(&self, document: &Value) -> Result<Job, Faults>;
    /// The offers that live: it listens for a moment, and knows what it heard
    /// before.
    fn offers(
        &mut self,
    ) -> impl Future<Output = anyhow::Result<Vec<OfferView>>>;
    /// Listens to the job's whole story before it sends the job. Sent again,
    /// it is the same job to the same node.
    fn send(
        &mut self,
        to: &NodeId,
        job: &Job,
    ) -> impl Future<Output = anyhow::Result<Sent>>;
    /// The next frame of the job that was sent; `None` once the connection
    /// has ended for good. Cancel-safe.
    fn next(&mut self) -> impl Future<Output = anyhow::Result<Option<Heard>>>;
    /// Asks the node to end the job.
    fn cancel(&mut self) -> impl Future<Output = anyhow::Result<()>>;
    /// Tells the node that its exit was heard.
    fn acknowledge(&mut self) -> impl Future<Output = anyhow::Result<()>>;
}

/// What became of a job that was sent.
#[derive(Clone, Debug)]
pub(super) enum Sent {
    /// The node holds it.
    Taken,
    /// It has ended already.
    Ended(Box<Heard>),
    /// The node refuses, in the contract's word and a sentence.
    Refused {
        /// The contract's word.
        code: String,
        /// A sentence with numbers.
        message: String,
    },
    /// Nobody listens under that id.
    NobodyThere,
    /// No answer came: whether it runs is not known.
    NoAnswer,
}

/// A frame, read and as it came.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    pub(super) frame: JobFrame,
    pub(super) json: Payload,
    /// What `Ov-Reason` said with it.
    pub(super) reasons: Vec<String>,
}
