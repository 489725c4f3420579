use super::words::words;
use std::fmt;

words! {
    /// Why, in a word: the closed list behind the header `Ov-Reason`.
    /// Described for operators in `docs/reasons.md`; a test keeps the two
    /// equal.
    ReasonCode {
        /// The node is not ready yet.
        Starting = "starting",
        /// The container engine does not answer.
        EngineAway = "engine_away",
        /// NATS was not heard until lately.
        NatsDeaf = "nats_deaf",
        /// A class's probe did not pass.
        ProbeFailed = "probe_failed",
        /// A class's image is not there.
        ImageMissing = "image_missing",
        /// Too little disk.
        DiskLow = "disk_low",
        /// The owner paused the node.
        Paused = "paused",
        /// The operator drains the node.
        Draining = "draining",
        /// The owner's stop latch is set.
        Latched = "latched",
        /// The node is going away.
        Stopping = "stopping",
        /// The GPU driver's library is there but does not work.
        GpuDriver = "gpu_driver",
        /// A part of the machine cannot be measured.
        Unmeasured = "unmeasured",
        /// Two nodes have one id.
        DuplicateNode = "duplicate_node",
        /// What the job wrote to fd 3 was not one JSON value.
        BadResult = "bad_result",
        /// The kernel killed a process of the job for want of memory.
        OomKill = "oom_kill",
        /// A limit of the job was reached; the text says which.
        LimitReached = "limit_reached",
        /// Output was lost before it was sent.
        OutputLost = "output_lost",
        /// The job could not be started.
        CannotStart = "cannot_start",
        /// The sandbox ended without a word of its own.
        SandboxLost = "sandbox_lost",
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

    /// What such a header holds; `None` where its code is none of the list,
    /// as a later version's may be.
    pub fn parse(header: &str) -> Option<Self> {
        let (code, text) = header.split_once(';')?;
        let code = ReasonCode::from_name(code.trim())?;
        Some(Self::new(code, text.trim()))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.code.as_str(), self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let reason = Reason::new(ReasonCode::DiskLow, "2 GB free;\r\nof 10");
        assert_eq!(reason.to_string(), "disk_low; 2 GB free;  of 10");
        assert_eq!(Reason::parse(&reason.to_string()), Some(reason));
        assert_eq!(Reason::parse("later; than this"), None);
    }
}
