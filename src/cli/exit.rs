use crate::engine::EngineError;
use crate::node::config::ConfigError;
use crate::node::{IdentityError, LogsError};
use std::process::ExitCode;

/// How a command ended, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// The thing that was asked about is not well.
    NotWell,
    /// What was typed makes no sense.
    Usage,
    /// The daemon, the engine or NATS cannot be reached.
    Unavailable,
    /// The configuration (or the machine it is for) does not allow it.
    Config,
}

/// An error that is not a room's own, and the code it ends with.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// What was typed makes no sense.
    #[error("{0}")]
    Usage(String),
    /// Someone cannot be reached; the text says who and what to do next.
    #[error("{0}")]
    Unavailable(String),
    /// The configuration, or the user it runs as, does not allow it.
    #[error("{0}")]
    Config(String),
}

impl Exit {
    /// The code, as `sysexits.h` numbers the last two.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::NotWell => 1,
            Self::Usage => 2,
            Self::Unavailable => 69,
            Self::Config => 78,
        }
    }

    /// The exit that an error calls for, by the first of its causes that
    /// says one.
    pub fn of(err: &anyhow::Error) -> Self {
        err.chain().find_map(Self::of_cause).unwrap_or(Self::NotWell)
    }

    fn of_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Self> {
        if let Some(own) = cause.downcast_ref::<CliError>() {
            return Some(match own {
                CliError::Usage(_) => Self::Usage,
                CliError::Unavailable(_) => Self::Unavailable,
                CliError::Config(_) => Self::Config,
            });
        }
        if cause.is::<ConfigError>() || cause.is::<IdentityError>() {
            return Some(Self::Config);
        }
        if let Some(LogsError::Filter { .. }) = cause.downcast_ref() {
            return Some(Self::Config);
        }
        match cause.downcast_ref::<EngineError>() {
            Some(EngineError::Away { .. }) => Some(Self::Unavailable),
            _ => None,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context as _;

    #[test]
    fn the_first_cause_with_a_code_decides() {
        let config: anyhow::Error = ConfigError::Faults(Vec::new()).into();
        assert_eq!(Exit::of(&config.context("starting")), Exit::Config);
        let away: Result<(), _> =
            Err(CliError::Unavailable("nobody answers".to_owned()));
        let away = away.context("asking").unwrap_err();
        assert_eq!(Exit::of(&away), Exit::Unavailable);
        assert_eq!(Exit::of(&anyhow::anyhow!("other")), Exit::NotWell);
    }
}
