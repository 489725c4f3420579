use std::fmt;

/// Why, in a word: the closed list behind the header `Ov-Reason`. Described
/// for operators in `docs/reasons.md`; a test keeps the two equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReasonCode {
    /// The node is not ready yet.
    Starting,
    /// The container engine does not answer.
    EngineAway,
    /// NATS was not heard until lately.
    NatsDeaf,
    /// A class's probe did not pass.
    ProbeFailed,
    /// A class's image is not there.
    ImageMissing,
    /// Too little disk.
    DiskLow,
    /// The owner paused the node.
    Paused,
    /// The operator drains the node.
    Draining,
    /// The owner's stop latch is set.
    Latched,
    /// The node is going away.
    Stopping,
    /// The GPU driver's library is there but does not work.
    GpuDriver,
    /// Two nodes have one id.
    DuplicateNode,
    /// What the job wrote to fd 3 was not one JSON value.
    BadResult,
    /// The kernel killed a process of the job for want of memory.
    OomKill,
    /// A limit of the job was reached; the text says which.
    LimitReached,
    /// Output was lost before it was sent.
    OutputLost,
    /// The job could not be started.
    CannotStart,
    /// The sandbox ended without a word of its own.
    SandboxLost,
}

impl ReasonCode {
    /// Every code, as in the documents.
    pub const ALL: [Self; 18] = [
        Self::Starting,
        Self::EngineAway,
        Self::NatsDeaf,
        Self::ProbeFailed,
        Self::ImageMissing,
        Self::DiskLow,
        Self::Paused,
        Self::Draining,
        Self::Latched,
        Self::Stopping,
        Self::GpuDriver,
        Self::DuplicateNode,
        Self::BadResult,
        Self::OomKill,
        Self::LimitReached,
        Self::OutputLost,
        Self::CannotStart,
        Self::SandboxLost,
    ];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::EngineAway => "engine_away",
            Self::NatsDeaf => "nats_deaf",
            Self::ProbeFailed => "probe_failed",
            Self::ImageMissing => "image_missing",
            Self::DiskLow => "disk_low",
            Self::Paused => "paused",
            Self::Draining => "draining",
            Self::Latched => "latched",
            Self::Stopping => "stopping",
            Self::GpuDriver => "gpu_driver",
            Self::DuplicateNode => "duplicate_node",
            Self::BadResult => "bad_result",
            Self::OomKill => "oom_kill",
            Self::LimitReached => "limit_reached",
            Self::OutputLost => "output_lost",
            Self::CannotStart => "cannot_start",
            Self::SandboxLost => "sandbox_lost",
        }
    }
}

/// One `Ov-Reason`: a code and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// From the closed list.
    pub code: ReasonCode,
    /// For people; one line.
    pub text: String,
}

impl Reason {
    /// A reason; line breaks of `text` become spaces, as a header needs.
    pub fn new(code: ReasonCode, text: impl Into<String>) -> Self {
        let text = text.into().replace(['\r', '\n'], " ");
        Self { code, text }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.code.as_str(), self.text)
    }
}
