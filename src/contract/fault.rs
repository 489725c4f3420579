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
        match self.path.as_str() {
            "" => write!(f, "the document {}", self.message),
            path => write!(f, "`{path}` {}", self.message),
        }
    }
}

/// All faults of one document, in the order of the contract's fields; never
/// empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Faults(pub Vec<Fault>);

/// The first, and how many more there are: an answer's message is one line.
impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut faults = self.0.iter();
        if let Some(first) = faults.next() {
            first.fmt(f)?;
        }
        match faults.len() {
            0 => Ok(()),
            more => write!(f, " (and {more} more)"),
        }
    }
}
