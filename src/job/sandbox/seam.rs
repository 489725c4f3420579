use super::Wish;
use crate::contract::Bytes;
use crate::init::{ExitRecord, Identity, Orders};
use crate::job::shelf::KeptOutput;
use crate::job::step::OpenFault;
use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

/// Where sandboxes are made.
pub(crate) trait Workshop: Send + Sync + 'static {
    /// What it makes.
    type Sandbox: Sandbox;

    /// A sandbox that stands: made, compared with what was asked for,
    /// started, its PID 1 waiting for orders. On failure nothing is left.
    fn open(
        &self,
        wish: Wish,
    ) -> impl Future<Output = Result<Self::Sandbox, OpenFault>> + Send;
}

/// One sandbox. Dropped, it is removed, however often that takes.
pub(crate) trait Sandbox: Send + 'static {
    /// Whose it is, durably, and then what it is to do.
    fn order(
        &mut self,
        identity: Identity,
        orders: Orders,
    ) -> impl Future<Output = Result<(), String>> + Send;

    /// What happens next in it. Cancel-safe; not asked again after `Gone`.
    fn next(&mut self) -> impl Future<Output = Word> + Send;

    /// Tells PID 1 to end the job.
    fn term(&mut self, grace: Duration) -> impl Future<Output = ()> + Send;

    /// Lifts its quota and kills all of it from outside; not tied to the
    /// sandbox, so that its supervisor goes on meanwhile.
    fn kill(&self) -> impl Future<Output = ()> + Send + 'static;

    /// What it has used.
    fn look(&self) -> Look;

    /// Output from an absolute offset on.
    fn read(&mut self, from: u64, max: usize) -> Result<Piece, String>;

    /// PID 1's own record and what lay on fd 3, once it is gone.
    fn end(&mut self) -> Result<Option<(ExitRecord, Vec<u8>)>, String>;

    /// What of its image's environment a job may keep.
    fn image_env(&self) -> &BTreeMap<String, String>;

    /// PID 1 is gone: the container goes too, however often that is tried.
    /// What lies in the record stays readable.
    fn release(&mut self);

    /// Its output for whoever asks later; keeps the record.
    fn tail(&self) -> Box<dyn Tail>;
}

/// A job's output, kept beside or after its sandbox.
pub(crate) trait Tail: Send + 'static {
    /// At most `most` bytes from an absolute offset on.
    fn read(&mut self, from: u64, most: usize) -> Result<KeptOutput, String>;
}

/// Something that happened in a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// The exec succeeded.
    Started {
        /// CLOCK_MONOTONIC.
        mono_ms: u64,
    },
    /// There is more output.
    Output,
    /// PID 1 is gone, and every process with it.
    Gone,
}

/// What a sandbox has used; absent is not known, never zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Look {
    /// CPU of all its processes.
    pub(crate) cpu: Option<Duration>,
    /// The most memory it held at once.
    pub(crate) memory_peak: Option<Bytes>,
    /// Processes that the kernel killed for want of memory.
    pub(crate) oom_kills: Option<u64>,
    /// Processes in it, PID 1 included.
    pub(crate) processes: Option<u64>,
}

/// A piece of output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Where it begins; behind what was asked for where bytes were lost.
    pub(crate) start: u64,
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
}
