//! Whether the container engine answers: asked on a timer, so that a node
//! whose engine went away says so before a job finds out.

use crate::contract::{Clock, Timestamp};
use crate::engine::{Engine, EngineInfo};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

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
    /// Whether jobs can be run on it.
    pub(crate) fn is_up(&self) -> bool {
        matches!(self, Self::Up(_))
    }

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
        match info.unsuited() {
            Some(why) => Self::Unsuited(why),
            None => Self::Up(info),
        }
    }
}

/// Asks the engine on a timer until `stop`.
pub(crate) fn watch_engine<E: Engine>(
    engine: Arc<E>,
    clock: Arc<dyn Clock>,
    tracker: &TaskTracker,
    stop: CancellationToken,
) -> watch::Receiver<EngineState> {
    let (tx, rx) = watch::channel(EngineState::Unknown);
    tracker.spawn(async move {
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
        EngineState::Unknown | EngineState::Up(_) | EngineState::Unsuited(_) => {
            now
        }
    };
    EngineState::Away { since, text: error.to_string() }
}
