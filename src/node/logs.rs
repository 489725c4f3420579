use super::config::{LogConfig, LogFormat};
use rustix::fs::fstat;
use std::io::{self, IsTerminal};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Registry, fmt};

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub enum LogsError {
    /// The filter is none.
    #[error("cannot read the log filter `{filter}`")]
    Filter {
        /// As it was given.
        filter: String,
        /// Why.
        source: tracing_subscriber::filter::ParseError,
    },
    /// The journal does not take anything.
    #[error("cannot reach the systemd journal")]
    Journal(#[source] io::Error),
    /// Someone was first.
    #[error("cannot start a second log in one process")]
    Twice(#[source] tracing_subscriber::util::TryInitError),
}

/// Where the log goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sink {
    Journal,
    Human,
    Json,
}

/// Starts the log of this process, once. `journal_stream` is the variable
/// `JOURNAL_STREAM`, with which systemd says which file the journal reads.
///
/// # Errors
/// When the filter is none, or the journal cannot be reached.
pub fn start_logs(
    config: &LogConfig,
    journal_stream: Option<&str>,
) -> Result<(), LogsError> {
    let filter = EnvFilter::builder().parse(&config.filter);
    let filter = filter.map_err(|source| LogsError::Filter {
        filter: config.filter.clone(),
        source,
    })?;
    let log = Registry::default().with(filter);
    let lines = fmt::layer().with_writer(io::stderr);
    let started = match sink(config.format, reads_stderr(journal_stream)) {
        Sink::Journal => {
            let journal =
                tracing_journald::layer().map_err(LogsError::Journal)?;
            // Fields are looked up as `OVNODE_JOB_ID` and so on.
            let journal = journal.with_field_prefix(Some("OVNODE".to_owned()));
            log.with(journal).try_init()
        }
        Sink::Human => {
            let colours = io::stderr().is_terminal();
            log.with(lines.with_ansi(colours)).try_init()
        }
        Sink::Json => log.with(lines.json().flatten_event(true)).try_init(),
    };
    started.map_err(LogsError::Twice)
}

fn sink(format: LogFormat, under_journal: bool) -> Sink {
    match (format, under_journal) {
        (LogFormat::Auto, true) => Sink::Journal,
        (LogFormat::Auto, false) | (LogFormat::Human, _) => Sink::Human,
        (LogFormat::Json, _) => Sink::Json,
    }
}

/// Whether stderr is the very file that the journal reads: the variable
/// alone is inherited by everything that a unit starts.
fn reads_stderr(journal_stream: Option<&str>) -> bool {
    let Ok(stat) = fstat(io::stderr()) else { return false };
    let stderr = format!("{}:{}", stat.st_dev, stat.st_ino);
    journal_stream == Some(stderr.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_is_used_only_where_it_reads_us() {
        assert_eq!(sink(LogFormat::Auto, true), Sink::Journal);
        assert_eq!(sink(LogFormat::Auto, false), Sink::Human);
        assert_eq!(sink(LogFormat::Json, true), Sink::Json);
        assert!(!reads_stderr(None));
        assert!(!reads_stderr(Some("0:0")));
    }
}
