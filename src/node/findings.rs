//! What ails the node, by all that is known of it at one moment; and the
//! side of the jobs as the offer room sees it.

use super::engine_watch::EngineState;
use crate::capacity::DiskSample;
use crate::contract::{Bytes, ReasonCode};
use crate::job::{ClassView, JobPlan, JobsView, Standing};
use crate::link::LinkState;
use crate::offer::{ClassFacts, Condition, Finding, JobView, Promised};

/// Everything that a finding can be made of.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'a> {
    /// How the link is.
    pub(crate) link: &'a LinkState,
    /// How the engine is.
    pub(crate) engine: &'a EngineState,
    /// The jobs.
    pub(crate) jobs: &'a JobsView,
    /// The filesystem with the least room.
    pub(crate) disk: Option<&'a DiskSample>,
    /// What of it the owner keeps.
    pub(crate) keep: Bytes,
}

/// What ails the node; none is well.
pub(crate) fn findings(facts: &Facts<'_>) -> Vec<Finding> {
    let single = [
        standing(facts.jobs.standing),
        engine(facts.engine),
        link(facts.link),
        disk(facts),
    ];
    let classes = facts.jobs.classes.iter().filter_map(class);
    single.into_iter().flatten().chain(classes).collect()
}

fn standing(standing: Standing) -> Option<Finding> {
    let (condition, text) = match standing {
        Standing::Open => return None,
        Standing::Starting => {
            (Condition::Starting, "the classes are being probed")
        }
        Standing::Paused => (Condition::Paused, "the owner paused the node"),
        Standing::Latched => (Condition::Latched, "the owner stopped the node"),
        Standing::Draining => {
            (Condition::Draining, "what runs is finished, nothing is taken")
        }
        Standing::Stopping => (Condition::Stopping, "the node is going away"),
    };
    Some(Finding::new(condition, text))
}

fn engine(engine: &EngineState) -> Option<Finding> {
    let why = engine.why_not()?;
    let condition = match engine {
        // In the first moments nothing is wrong yet.
        EngineState::Unknown => Condition::Starting,
        EngineState::Up(_)
        | EngineState::Unsuited(_)
        | EngineState::Away { .. } => Condition::EngineAway,
    };
    Some(Finding::new(condition, why))
}

fn link(link: &LinkState) -> Option<Finding> {
    if link.serving() {
        return None;
    }
    let condition = match link {
        LinkState::Yielded { .. } => Condition::Duplicate,
        LinkState::Connecting { .. }
        | LinkState::Connected { .. }
        | LinkState::Denied { .. }
        | LinkState::Refused { .. }
        | LinkState::Deaf { .. }
        | LinkState::Disconnected { .. }
        | LinkState::Ended => Condition::NatsDeaf,
    };
    Some(Finding::new(condition, link.to_string()))
}

fn disk(facts: &Facts<'_>) -> Option<Finding> {
    let disk = facts.disk?;
    (disk.free <= facts.keep).then(|| {
        let (path, free, keep) = (disk.path.display(), disk.free, facts.keep);
        let text = format!("{path} has {free} free, the reserve is {keep}");
        Finding::new(Condition::DiskLow, text)
    })
}

/// A class that is off for its own reasons; what takes all classes with it
/// is said once.
fn class(view: &ClassView) -> Option<Finding> {
    let why = view.withdrawn.as_ref()?;
    let of = [
        (ReasonCode::ProbeFailed, Condition::ClassFaulty(view.class)),
        (ReasonCode::ImageMissing, Condition::ClassMissing(view.class)),
        (ReasonCode::Starting, Condition::Starting),
    ];
    let (_, condition) = of.into_iter().find(|(code, _)| *code == why.code)?;
    Some(Finding::new(condition, why.text.clone()))
}

/// The side of the jobs as the offer room sees it.
pub(crate) fn job_view(facts: &Facts<'_>, plan: &JobPlan) -> JobView {
    let jobs = facts.jobs;
    let class = |view: &ClassView| {
        let memory = plan.classes.get(&view.class).map(|of| of.memory);
        let of = ClassFacts {
            offered: view.withdrawn.is_none(),
            free: view.free,
            memory: memory.unwrap_or_default(),
        };
        (view.class, of)
    };
    JobView {
        promised: Promised {
            cpu: jobs.promised.cpu,
            memory: jobs.promised.memory,
            ..Promised::default()
        },
        classes: jobs.classes.iter().map(class).collect(),
        findings: findings(facts),
        error_rate: jobs.error_rate,
        checked_at: jobs.checked,
        ..JobView::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Reason, RuntimeClass, Timestamp};

    const AT: Timestamp = Timestamp(1);

    fn connected() -> LinkState {
        let server = "nats://127.0.0.1:4222".to_owned();
        LinkState::Connected { since: AT, server, session: 1 }
    }

    fn away() -> EngineState {
        EngineState::Away { since: AT, text: "no answer".into() }
    }

    fn open(withdrawn: Option<Reason>) -> JobsView {
        let class = RuntimeClass::Function;
        let function = ClassView { class, withdrawn, slots: 2, free: 2 };
        JobsView {
            standing: Standing::Open,
            classes: vec![function],
            ..JobsView::default()
        }
    }

    fn found(facts: &Facts<'_>) -> Vec<Condition> {
        findings(facts).into_iter().map(|it| it.condition).collect()
    }

    #[test]
    fn what_takes_all_classes_with_it_is_said_once() {
        let same = Reason::new(ReasonCode::EngineAway, "no answer");
        let jobs = open(Some(same));
        let (link, engine) = (connected(), away());
        let keep = Bytes(0);
        let facts = Facts {
            link: &link,
            engine: &engine,
            jobs: &jobs,
            disk: None,
            keep,
        };
        assert_eq!(found(&facts), [Condition::EngineAway]);
    }

    #[test]
    fn a_class_without_its_image_is_no_fault_of_the_node() {
        let missing = Reason::new(ReasonCode::ImageMissing, "not there");
        let failed = Reason::new(ReasonCode::ProbeFailed, "not held");
        let function = RuntimeClass::Function;
        for (why, wanted) in [
            (missing, Condition::ClassMissing(function)),
            (failed, Condition::ClassFaulty(function)),
        ] {
            let finding = class(&open(Some(why)).classes[0]);
            assert_eq!(finding.unwrap().condition, wanted);
        }
    }

    #[test]
    fn a_disk_down_to_the_reserve_is_low() {
        let sample = |free| DiskSample {
            path: "/data".into(),
            total: Bytes::mib(100),
            free,
            inodes_free: None,
            iops_available: None,
        };
        let (link, jobs) = (connected(), open(None));
        for (free, low) in [(10, true), (11, false)] {
            let disk = sample(Bytes::mib(free));
            let facts = Facts {
                link: &link,
                engine: &EngineState::Unknown,
                jobs: &jobs,
                disk: Some(&disk),
                keep: Bytes::mib(10),
            };
            let says = found(&facts).contains(&Condition::DiskLow);
            assert_eq!(says, low, "{free} MiB free");
        }
    }

    #[test]
    fn a_second_daemon_under_one_id_is_a_duplicate_and_not_deaf() {
        let rival = "01J".to_owned();
        let yielded = LinkState::Yielded { since: AT, rival };
        let found = link(&yielded).unwrap();
        assert_eq!(found.condition, Condition::Duplicate);
        assert_eq!(link(&connected()), None);
    }
}
