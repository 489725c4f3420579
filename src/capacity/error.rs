use std::io;
use std::path::PathBuf;

/// What could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum CapacityError {
    /// A file of the kernel's could not be read.
    #[error("cannot read `{path}`")]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of the kernel's did not hold what it should.
    #[error("`{path}` does not say {what}")]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// What was looked for.
        what: &'static str,
    },
    /// A filesystem did not say how full it is.
    #[error("cannot ask the filesystem of `{path}` for its room")]
    Filesystem {
        /// Which directory it was asked for.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The thread that reads a resource could not be started.
    #[error("cannot start the thread that reads {resource}")]
    Thread {
        /// Which resource.
        resource: &'static str,
        /// Why.
        source: io::Error,
    },
}

impl CapacityError {
    /// The whole chain in one line, as remarks are shown.
    pub(super) fn line(&self) -> String {
        let mut line = self.to_string();
        let mut next = std::error::Error::source(self);
        while let Some(source) = next {
            line = format!("{line}: {source}");
            next = source.source();
        }
        line
    }
}
