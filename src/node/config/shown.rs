use super::{Origin, Secret};

/// An effective value: its key, its text, where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// Dotted.
    pub key: String,
    pub(super) text: Text,
    /// Who said so.
    pub origin: Origin,
}

/// Whether secrets are written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// As `(hidden)`.
    Hidden,
    /// As they are, because the owner asked for them.
    Shown,
}

impl Shown {
    /// The value as TOML would have it, or a word in its place.
    pub fn value(&self, secrets: Secrets) -> String {
        match secrets {
            Secrets::Hidden => self.text.hidden(),
            Secrets::Shown => self.text.revealed(),
        }
    }
}

/// A value's text, parts of which may be no one's to see.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Text {
    Plain(String),
    Secret(Secret),
    List(Vec<Text>),
    Map(Vec<(String, Text)>),
}

impl Text {
    pub(super) fn hidden(&self) -> String {
        self.with(&|secret| format!("{secret:?}"))
    }

    fn revealed(&self) -> String {
        self.with(&|secret| {
            serde_json::Value::from(secret.reveal()).to_string()
        })
    }

    fn with(&self, reveal: &dyn Fn(&Secret) -> String) -> String {
        match self {
            Self::Plain(text) => text.clone(),
            Self::Secret(secret) => reveal(secret),
            Self::List(parts) => {
                let parts: Vec<_> =
                    parts.iter().map(|part| part.with(reveal)).collect();
                format!("[{}]", parts.join(", "))
            }
            Self::Map(parts) => {
                let part = |(name, value): &(String, Text)| {
                    format!("{name} = {}", value.with(reveal))
                };
                let parts: Vec<_> = parts.iter().map(part).collect();
                format!("{{ {} }}", parts.join(", "))
            }
        }
    }
}
