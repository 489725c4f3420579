//! Whether the container engine answers: asked on a timer, so that a node
//! whose engine went away says so before a job finds out.

use crate::contract::{Clock, Timestamp};
use crate::engine::{Engine, EngineInfo};
use crate::job::Vital;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

/// How long a node may offer classes that its engine cannot run.
const EVERY: Duration = Duration::from_secs(3);

/// What is known of the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum EngineState {
    /// Not asked yet.
    #[default]
    Unknown,
    /// It answers, and sandboxes hold on it.
    Up(EngineInfo),
    /// It answers, and is of a kind whose sandboxes are not supported.
    Unsuited(String),
    /// It does not answer.
    Away {
        /// Since when.
        since: Timestamp,
        /// What it said, or did not.
        text: String,
    },
}

impl EngineState {
    /// Why not; `None` when it is up.
    pub(crate) fn why_not(&self) -> Option<String> {
        match self {
            Self::Up(_) => None,
            Self::Unknown => Some("the engine was not asked yet".into()),
            Self::Unsuited(text) | Self::Away { text, .. } => {
                Some(text.clone())
            }
        }
    }

    fn of(info: EngineInfo) -> Self {
        match unsuited(&info) {
            Some(why) => Self::Unsuited(why),
            None => Self::Up(info),
        }
    }
}

/// Asks the engine on a timer until the daemon ends.
pub(crate) fn watch_engine<E: Engine>(
    engine: Arc<E>,
    clock: Arc<dyn Clock>,
    vital: &Vital,
) -> watch::Receiver<EngineState> {
    let (tx, rx) = watch::channel(EngineState::Unknown);
    let stop = vital.stop().clone();
    vital.spawn("engine watch", async move {
        let mut tick = tokio::time::interval(EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            let asked = stop.run_until_cancelled(engine.info()).await;
            let Some(asked) = asked else { break };
            let state = match asked {
                Ok(info) => EngineState::of(info),
                Err(error) => away(&tx.borrow(), clock.now().wall, &error),
            };
            tx.send_if_modified(|held| {
                let changed = *held != state;
                *held = state;
                changed
            });
        }
    });
    rx
}

/// `since` stays that of the first silence.
fn away(
    before: &EngineState,
    now: Timestamp,
    error: &dyn std::error::Error,
) -> EngineState {
    let since = match before {
        EngineState::Away { since, .. } => *since,
        EngineState::Unknown
        | EngineState::Up(_)
        | EngineState::Unsuited(_) => now,
    };
    EngineState::Away { since, text: error.to_string() }
}

/// Why sandboxes would not hold on an engine of this kind.
pub(crate) fn unsuited(info: &EngineInfo) -> Option<String> {
    let has = |name: &str| {
        let of = |it: &String| it.split(',').any(|part| part == name);
        info.security.iter().any(of)
    };
    let version = &info.version;
    if has("name=rootless") {
        return Some(format!(
            "engine {version} is rootless, which is not supported: jobs \
             would share one user, and limits may not hold"
        ));
    }
    if has("name=userns") {
        return Some(format!(
            "engine {version} runs with userns-remap, which is not \
             supported: records and users of jobs would be mapped away"
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(security: &[&str]) -> EngineInfo {
        EngineInfo {
            version: "20.10.24".into(),
            api: "1.41".into(),
            cgroup_version: 1,
            cgroup_driver: "cgroupfs".into(),
            data_root: "/var/lib/docker".into(),
            security: security.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn rootless_and_remapped_engines_are_refused_by_name() {
        assert_eq!(unsuited(&info(&["name=seccomp,profile=default"])), None);
        let remapped = unsuited(&info(&["name=userns"])).unwrap();
        assert!(remapped.contains("userns-remap"), "{remapped}");
        let rootless = unsuited(&info(&["name=rootless"])).unwrap();
        assert!(rootless.contains("rootless"), "{rootless}");
    }

    #[test]
    fn an_engine_is_away_since_its_first_silence() {
        let gone = std::io::Error::other("gone");
        let first = away(&EngineState::Unknown, Timestamp(5), &gone);
        let later = away(&first, Timestamp(9), &gone);
        assert_eq!(first, later);
        assert_eq!(later.why_not().as_deref(), Some("gone"));
    }
}
