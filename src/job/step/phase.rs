use crate::contract::{BootMs, Bytes, JobPhase, MonoMs, Now, Timestamp};
use std::time::Duration;

/// What was agreed about one job when it was admitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Terms {
    /// When it was received.
    pub(crate) received: Now,
    /// Time to live from its receipt.
    pub(crate) ttl: Duration,
    /// Job time.
    pub(crate) wall: Duration,
    /// CPU of the whole sandbox.
    pub(crate) cpu: Duration,
    /// Between TERM and KILL.
    pub(crate) grace: Duration,
    /// Most bytes of stdout.
    pub(crate) output: Bytes,
    /// Most bytes on fd 3.
    pub(crate) result: Bytes,
}

impl Terms {
    /// When the time to live is over.
    pub(crate) fn expires(&self) -> BootMs {
        BootMs(self.received.boot.0.saturating_add(ms(self.ttl)))
    }
}

/// The moment of a job's exec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exec {
    /// What job time counts from.
    pub(crate) mono: MonoMs,
    /// `started_ms`: computed once, here.
    pub(crate) wall: Timestamp,
}

impl Exec {
    /// An exec at `mono`, seen at `now`.
    pub(crate) fn seen(mono: MonoMs, now: Now) -> Self {
        let ago = now.mono.0.saturating_sub(mono.0);
        Self { mono, wall: Timestamp(now.wall.0.saturating_sub(ago)) }
    }
}

/// Why the daemon ends a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Its dispatcher wants it.
    Cancelled,
    /// The owner wants it.
    Stopped,
    /// Its time to live is over.
    Ttl,
    /// Its job time is over.
    Wall,
    /// Its CPU time is used up.
    Cpu,
}

/// Where a job stands; each phase holds what is true in it and no more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Phase {
    /// Its row is written and a slot is its own.
    Admitted,
    /// A sandbox is being made.
    Opening {
        /// How many tries failed before.
        tries: u32,
    },
    /// The engine is away; the next try is at this moment.
    Waiting {
        /// When.
        again_at: MonoMs,
        /// How many tries failed.
        tries: u32,
    },
    /// PID 1 has its orders; the exec was not seen yet.
    Ordered,
    /// It runs.
    Running {
        /// Since when.
        since: Exec,
    },
    /// It was told to end.
    Ending {
        /// Why.
        cause: Cause,
        /// Since when it runs, if it does.
        since: Option<Exec>,
        /// When it is killed from outside (again).
        kill_at: MonoMs,
    },
    /// Its sandbox is gone and its exit is known.
    Ended,
}

impl Phase {
    /// Since when it runs, if that is known.
    pub(crate) fn since(&self) -> Option<Exec> {
        match self {
            Self::Running { since } => Some(*since),
            Self::Ending { since, .. } => *since,
            Self::Admitted
            | Self::Opening { .. }
            | Self::Waiting { .. }
            | Self::Ordered
            | Self::Ended => None,
        }
    }

    /// How far that is, as a log or a list says it.
    pub(crate) fn shown(&self) -> JobPhase {
        match self {
            Self::Admitted => JobPhase::Admitted,
            Self::Opening { .. } | Self::Waiting { .. } | Self::Ordered => {
                JobPhase::Starting
            }
            Self::Running { .. } => JobPhase::Running,
            Self::Ending { .. } => JobPhase::Ending,
            Self::Ended => JobPhase::Ended,
        }
    }
}

/// Whole milliseconds.
pub(super) fn ms(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
