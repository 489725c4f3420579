use serde::{Deserialize, Serialize};
use std::fmt;

/// An id that is not of its form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{raw}` is not {wanted}")]
pub struct BadId {
    /// What was given.
    pub raw: String,
    /// What would have been right, as a noun phrase.
    pub wanted: &'static str,
}

/// One token of a NATS subject, `[A-Za-z0-9_-]+`, at most 128 bytes.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct Token(String);

impl Token {
    /// The token as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Token {
    type Error = BadId;
    fn try_from(raw: String) -> Result<Self, BadId> {
        let sized = (1..=128).contains(&raw.len());
        let clean = raw
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if sized && clean {
            Ok(Self(raw))
        } else {
            let wanted =
                "a NATS token (1 to 128 letters, digits, `_` and `-`)";
            Err(BadId { raw, wanted })
        }
    }
}

impl From<Token> for String {
    fn from(token: Token) -> Self {
        token.0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The node's id, stable for life (`network.node@1`).
pub type NodeId = Token;

/// The last token of the subjects a dispatcher sends on.
pub type DispatcherId = Token;

/// A job's id, `job_<ULID>`; its first half is the moment it was made.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct JobId(String);

impl JobId {
    /// The id as text, with its prefix.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// When the id was made, Unix milliseconds, from the ULID's first 48
    /// bits. A first digit above 7 (which the contract's pattern allows)
    /// reads as its low bits would overflow: saturated, far in the future.
    pub fn made_ms(&self) -> u64 {
        self.0[4..14].bytes().fold(0_u64, |ms, b| {
            (ms << 5) | crockford(b).unwrap_or_default()
        })
    }
}

fn crockford(byte: u8) -> Option<u64> {
    const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    DIGITS.iter().position(|&d| d == byte).map(|at| at as u64)
}

impl TryFrom<String> for JobId {
    type Error = BadId;
    fn try_from(raw: String) -> Result<Self, BadId> {
        let tail = raw.strip_prefix("job_").unwrap_or_default();
        if tail.len() == 26 && tail.bytes().all(|b| crockford(b).is_some()) {
            Ok(Self(raw))
        } else {
            Err(BadId { raw, wanted: "a job id (`job_` and a ULID)" })
        }
    }
}

impl From<JobId> for String {
    fn from(id: JobId) -> Self {
        id.0
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a job runs: a declared artifact's name and exact version.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub struct ArtifactRef {
    /// `^[a-z0-9][a-z0-9._-]{0,127}$`.
    pub name: String,
    /// `^[0-9A-Za-z][0-9A-Za-z.+-]{0,63}$`.
    pub version: String,
}

impl fmt::Display for ArtifactRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.version)
    }
}
