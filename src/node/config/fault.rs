use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a value comes from. The order is that in which faults are listed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A line of a file, counted from 1.
    File {
        /// Which file.
        path: Arc<Path>,
        /// Which line.
        line: usize,
    },
    /// An environment variable, by name.
    Env(Arc<str>),
    /// Nobody said anything.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line } => {
                write!(f, "{}:{line}", path.display())
            }
            Self::Env(name) => f.write_str(name),
            Self::Default => f.write_str("default"),
        }
    }
}

/// One thing that is wrong with the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    /// Where it stands.
    pub origin: Origin,
    /// Dotted key; empty where the text is not TOML at all.
    pub key: String,
    /// What is wrong and what would be right; never a secret's value.
    pub message: String,
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.origin != Origin::Default {
            write!(f, "{}: ", self.origin)?;
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file is not there or cannot be read.
    #[error(
        "cannot read the configuration `{path}` \
         (`ovnode config init` writes one)"
    )]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It was read, and cannot be meant.
    #[error("{}", listed(.0))]
    Faults(Vec<ConfigFault>),
}

fn listed(faults: &[ConfigFault]) -> String {
    let many = match faults.len() {
        1 => "the configuration has a fault:".to_owned(),
        n => format!("the configuration has {n} faults:"),
    };
    faults.iter().fold(many, |text, fault| format!("{text}\n  {fault}"))
}
