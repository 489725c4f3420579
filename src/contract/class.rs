use serde::{Deserialize, Serialize};
use std::fmt;

/// A kind of sandbox (`platform.runtime-class@1`), in the order in which
/// they are listed everywhere.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize,
    Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum RuntimeClass {
    /// An artifact run once: args in, result out.
    Function,
    /// Source text or an artifact over a language runtime.
    Code,
    /// A page opened in Chromium.
    Browser,
    /// A script in a full userland.
    Linux,
    /// A program on a screen.
    Desktop,
    /// `code` with leased GPUs.
    Gpu,
}

impl RuntimeClass {
    /// Every class, in the contract's order.
    pub const ALL: [Self; 6] = [
        Self::Function,
        Self::Code,
        Self::Browser,
        Self::Linux,
        Self::Desktop,
        Self::Gpu,
    ];

    /// The contract's own word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Code => "code",
            Self::Browser => "browser",
            Self::Linux => "linux",
            Self::Desktop => "desktop",
            Self::Gpu => "gpu",
        }
    }

    /// The class of that name; `None` for any other text.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == name)
    }

    /// The reserved capability, `worker:<class>`.
    pub fn capability(self) -> String {
        format!("worker:{}", self.as_str())
    }
}

impl fmt::Display for RuntimeClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
