//! A daemon as a service: it says when it is ready, what it does, and ends
//! on a signal.

use super::config::Config;
use super::{Daemon, DaemonError, SystemClock};
use sd_notify::NotifyState;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::MissedTickBehavior;
use tracing::{debug, info, warn};

/// Why a daemon did not run.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// It could not be started.
    #[error("cannot start the daemon")]
    Start(#[from] DaemonError),
    /// Without signals it could not be ended.
    #[error("cannot listen for signals")]
    Signals(#[source] io::Error),
    /// It ended itself; the log says which part of it panicked.
    #[error("a part of the daemon died, and it ended")]
    Died,
}

/// How often the line that systemd shows is made anew.
const LINE: Duration = Duration::from_secs(5);

/// What a daemon listens for.
struct Signals {
    term: Signal,
    interrupt: Signal,
    hangup: Signal,
}

/// Runs a daemon until TERM or an interrupt, then ends it.
///
/// # Errors
/// When it could not be started, or ended for another cause.
pub async fn serve(config: Config) -> Result<(), ServiceError> {
    let listen = |kind| signal(kind).map_err(ServiceError::Signals);
    let mut signals = Signals {
        term: listen(SignalKind::terminate())?,
        interrupt: listen(SignalKind::interrupt())?,
        hangup: listen(SignalKind::hangup())?,
    };
    let daemon = Daemon::start(config, Arc::new(SystemClock)).await?;
    tell(&[NotifyState::Ready]);
    let ended = until_signal(&daemon, &mut signals).await;
    tell(&[NotifyState::Stopping]);
    daemon.end().await;
    ended
}

async fn until_signal(
    daemon: &Daemon,
    signals: &mut Signals,
) -> Result<(), ServiceError> {
    let mut tick = tokio::time::interval(LINE);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased; // a signal is never late
            _ = signals.term.recv() => break info!("TERM: ending"),
            _ = signals.interrupt.recv() => break info!("interrupted: ending"),
            // Its usual effect is death without a word: a closed terminal
            // must not take the jobs with it.
            _ = signals.hangup.recv() => {
                warn!("HUP: the config is read at the start only; going on");
            }
            () = daemon.died() => return Err(ServiceError::Died),
            _ = tick.tick() => {
                let line = daemon.summary();
                tell(&[NotifyState::Status(&line)]);
            }
        }
    }
    Ok(())
}

/// Tells systemd, where it listens.
fn tell(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        debug!(%error, "systemd does not listen");
    }
}
