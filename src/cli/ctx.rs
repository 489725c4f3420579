use crate::node::config::Sources;
use std::io::{BufRead, Write};
use std::path::PathBuf;

/// Where a command prints and reads, and whom it asks.
pub(super) struct Ctx<'a> {
    /// What was asked for.
    pub(super) out: &'a mut dyn Write,
    /// Progress and warnings; errors are returned.
    pub(super) err: &'a mut dyn Write,
    /// What is piped in.
    pub(super) input: &'a mut dyn BufRead,
    /// Whether `out` is a terminal: people rather than a pipe.
    pub(super) terminal: bool,
    /// The daemon's socket.
    pub(super) socket: PathBuf,
    /// What the configuration is read from, for commands that need it.
    pub(super) sources: Sources,
}
