use std::fmt;

/// What kind of fault a document has at one place; admission answers by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A value of the wrong JSON type.
    Type,
    /// A key that the contract does not have.
    UnknownKey,
    /// A required key that is not there.
    Missing,
    /// The right type, a value that is not allowed.
    Value,
}

/// One fault of a document: where, and a sentence that says what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// JSON pointer (RFC 6901); empty for the document itself.
    pub path: String,
    /// What kind of fault it is.
    pub kind: FaultKind,
    /// What is wrong and what would be right, without a full stop.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// All faults of one document, in the document's order; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.first().map(ToString::to_string).unwrap_or_default())]
pub struct Faults(pub Vec<Fault>);
