use crate::capacity::{Remark, Resource, Snapshot};
use crate::contract::{
    FaultCode, HealthStatus, Reason, ReasonCode, RuntimeClass,
};

/// What ails a node, or what somebody told it. A node without one is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// It is not ready yet.
    Starting,
    /// The container engine does not answer.
    EngineAway,
    /// NATS was not heard until lately.
    NatsDeaf,
    /// The ledger's disk is full or read-only.
    DiskLow,
    /// A class's probe did not pass, though it once did or should.
    ClassFaulty(RuntimeClass),
    /// A class's image is not there, as on a node that never had it.
    ClassMissing(RuntimeClass),
    /// The GPU driver does not work: no card can be given.
    GpuDriver,
    /// One card of several fails; the others can be given.
    GpuLost,
    /// A part of the machine cannot be measured.
    Unmeasured,
    /// Another node has this one's id, and this one yields.
    Duplicate,
    /// The owner paused the node.
    Paused,
    /// The operator drains it.
    Draining,
    /// The owner's stop latch is set.
    Latched,
    /// It is going away.
    Stopping,
}

/// Which classes a condition leaves on offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slots {
    /// All whose probe passed.
    Kept,
    /// All whose probe passed but this one.
    AllBut(RuntimeClass),
    /// All whose probe passed, without a free slot: what runs goes on.
    Idle,
    /// None.
    None,
}

/// What a condition means for readers and dispatchers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The health it leaves at best.
    pub status: HealthStatus,
    /// The reserved capabilities it leaves.
    pub slots: Slots,
    /// Its word in `Ov-Reason`.
    pub code: ReasonCode,
    /// What a job gets of the classes it takes; `None` where it takes none.
    pub answer: Option<FaultCode>,
}

impl Condition {
    /// What it means. This table is the whole rule.
    pub fn row(self) -> Row {
        use FaultCode::{LocalStop, NotReady, ShuttingDown};
        use HealthStatus::{Degraded, Down, Draining, Up};
        use ReasonCode as Code;
        use Slots::{AllBut, Idle, Kept, None as No};
        let not_ready = Some(NotReady);
        let (status, slots, code, answer) = match self {
            Self::Starting => (Degraded, No, Code::Starting, not_ready),
            Self::EngineAway => (Degraded, No, Code::EngineAway, not_ready),
            Self::NatsDeaf => (Degraded, No, Code::NatsDeaf, not_ready),
            Self::DiskLow => (Degraded, No, Code::DiskLow, not_ready),
            Self::ClassFaulty(class) => {
                (Degraded, AllBut(class), Code::ProbeFailed, not_ready)
            }
            Self::ClassMissing(class) => {
                (Up, AllBut(class), Code::ImageMissing, not_ready)
            }
            Self::GpuDriver => {
                let but = AllBut(RuntimeClass::Gpu);
                (Degraded, but, Code::GpuDriver, not_ready)
            }
            Self::GpuLost => (Degraded, Kept, Code::GpuDriver, None),
            Self::Unmeasured => (Degraded, Kept, Code::Unmeasured, None),
            Self::Duplicate => (Down, No, Code::DuplicateNode, not_ready),
            Self::Paused => (Draining, No, Code::Paused, Some(LocalStop)),
            Self::Draining => {
                (Draining, Idle, Code::Draining, Some(ShuttingDown))
            }
            Self::Latched => (Down, No, Code::Latched, Some(LocalStop)),
            Self::Stopping => (Down, No, Code::Stopping, Some(ShuttingDown)),
        };
        Row { status, slots, code, answer }
    }
}

/// A condition that holds, and a sentence about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What holds.
    pub condition: Condition,
    /// For people, without a full stop.
    pub text: String,
}

impl Finding {
    /// A finding.
    pub fn new(condition: Condition, text: impl Into<String>) -> Self {
        Self { condition, text: text.into() }
    }

    /// What a snapshot's warnings mean: a resource that hangs is left out
    /// of the offer and the rest goes on.
    pub(super) fn of(snapshot: &Snapshot) -> Vec<Self> {
        let gpu = if snapshot.gpus.is_empty() {
            Condition::GpuDriver
        } else {
            Condition::GpuLost
        };
        let found = |warning: &Remark| match warning.resource {
            Resource::Gpu => Self::new(gpu, warning.to_string()),
            Resource::Cpu
            | Resource::Memory
            | Resource::Network
            | Resource::Disk => {
                Self::new(Condition::Unmeasured, warning.to_string())
            }
        };
        snapshot.warnings.iter().map(found).collect()
    }
}

/// All findings of a moment, weighed.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    rows: Vec<Row>,
    /// `Ov-Reason` headers.
    pub reasons: Vec<Reason>,
    /// The worst of all.
    pub status: HealthStatus,
    /// Whether anything is said at all: a node that yields its id to another
    /// would speak on that one's subjects.
    pub speaks: bool,
}

impl Verdict {
    /// Weighs them.
    pub fn of<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        let (mut rows, mut reasons) = (Vec::new(), Vec::new());
        let (mut status, mut speaks) = (HealthStatus::Up, true);
        for finding in findings {
            let row = finding.condition.row();
            reasons.push(Reason::new(row.code, finding.text.as_str()));
            if weight(row.status) > weight(status) {
                status = row.status;
            }
            speaks &= finding.condition != Condition::Duplicate;
            rows.push(row);
        }
        Self { rows, reasons, status, speaks }
    }

    /// Whether `worker:<class>` is said, for a class whose probe passed.
    pub fn offers(&self, class: RuntimeClass) -> bool {
        self.rows.iter().all(|row| match row.slots {
            Slots::Kept | Slots::Idle => true,
            Slots::AllBut(other) => other != class,
            Slots::None => false,
        })
    }

    /// Whether a job of `class` may have a slot.
    pub fn gives(&self, class: RuntimeClass) -> bool {
        let idle = self.rows.iter().any(|row| row.slots == Slots::Idle);
        self.offers(class) && !idle
    }

    /// What a job of `class` gets: that a node cannot comes before that it
    /// may not, and that before that it will soon be gone.
    pub fn answer(&self, class: RuntimeClass) -> Option<FaultCode> {
        let takes = |row: &&Row| match row.slots {
            Slots::AllBut(other) => other == class,
            Slots::Kept | Slots::Idle | Slots::None => true,
        };
        let given = |code| {
            let mut taking = self.rows.iter().filter(takes);
            taking.any(|row| row.answer == Some(code)).then_some(code)
        };
        given(FaultCode::NotReady)
            .or_else(|| given(FaultCode::LocalStop))
            .or_else(|| given(FaultCode::ShuttingDown))
    }
}

fn weight(status: HealthStatus) -> u8 {
    match status {
        HealthStatus::Up => 0,
        HealthStatus::Degraded => 1,
        HealthStatus::Draining => 2,
        HealthStatus::Down => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::{Condition, Finding, Slots, Verdict};
    use crate::contract::{FaultCode, HealthStatus, RuntimeClass};

    use Condition::{
        ClassFaulty, ClassMissing, DiskLow, Draining, Duplicate, EngineAway,
        GpuDriver, GpuLost, Latched, NatsDeaf, Paused, Starting, Stopping,
        Unmeasured,
    };

    fn verdict(conditions: &[Condition]) -> Verdict {
        let found = |&c: &Condition| Finding::new(c, "why");
        let findings: Vec<_> = conditions.iter().map(found).collect();
        Verdict::of(&findings)
    }

    #[test]
    fn each_condition_means_what_the_table_of_the_docs_says() {
        let browser = RuntimeClass::Browser;
        let no = (false, false);
        let (yes, idle) = ((true, true), (true, false));
        let table = [
            (vec![], "up", yes, None),
            (vec![Starting], "degraded", no, Some("not_ready")),
            (vec![EngineAway], "degraded", no, Some("not_ready")),
            (vec![NatsDeaf], "degraded", no, Some("not_ready")),
            (vec![DiskLow], "degraded", no, Some("not_ready")),
            (vec![ClassFaulty(browser)], "degraded", no, Some("not_ready")),
            (vec![ClassMissing(browser)], "up", no, Some("not_ready")),
            (vec![ClassFaulty(RuntimeClass::Code)], "degraded", yes, None),
            (vec![GpuDriver], "degraded", yes, None),
            (vec![GpuLost], "degraded", yes, None),
            (vec![Unmeasured], "degraded", yes, None),
            (vec![Paused], "draining", no, Some("local_stop")),
            (vec![Draining], "draining", idle, Some("shutting_down")),
            (vec![Latched], "down", no, Some("local_stop")),
            (vec![Stopping], "down", no, Some("shutting_down")),
            // Several at once: the worst health, the first row's answer.
            (vec![EngineAway, Paused], "draining", no, Some("not_ready")),
            (vec![Draining, Latched], "down", no, Some("local_stop")),
        ];
        for (conditions, status, (offers, gives), answer) in table {
            let verdict = verdict(&conditions);
            let answered = verdict.answer(browser).map(FaultCode::as_str);
            assert_eq!(verdict.status.as_str(), status, "{conditions:?}");
            assert_eq!(verdict.offers(browser), offers, "{conditions:?}");
            assert_eq!(verdict.gives(browser), gives, "{conditions:?}");
            assert_eq!(answered, answer, "{conditions:?}");
            assert_eq!(verdict.reasons.len(), conditions.len());
        }
    }

    #[test]
    fn a_broken_gpu_driver_takes_only_the_gpu_class() {
        let verdict = verdict(&[GpuDriver]);
        for class in RuntimeClass::ALL.iter().copied() {
            let is_gpu = class == RuntimeClass::Gpu;
            assert_eq!(verdict.gives(class), !is_gpu);
        }
    }

    #[test]
    fn a_node_that_yields_its_id_says_nothing() {
        assert!(!verdict(&[Duplicate]).speaks);
        assert!(verdict(&[Stopping]).speaks);
    }

    #[test]
    fn whatever_takes_a_class_says_what_its_jobs_get() {
        for condition in [Starting, ClassFaulty(RuntimeClass::Gpu), Paused] {
            let row = condition.row();
            assert_ne!(row.slots, Slots::Kept);
            assert!(row.answer.is_some());
        }
        assert_eq!(Unmeasured.row().status, HealthStatus::Degraded);
    }
}
