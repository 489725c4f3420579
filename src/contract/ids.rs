use super::forms::{
    crockford, is_artifact_name, is_file_name, is_job_id, is_media_id,
    is_sha256, is_token, is_version,
};
use super::read::{At, Read, fields};
use super::words::form;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A text that is not of its form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{raw}` is not {wanted}")]
pub struct BadId {
    /// What was given.
    pub raw: String,
    /// What would have been right, as a noun phrase.
    pub wanted: &'static str,
}

form! {
    /// One token of a NATS subject, `[A-Za-z0-9_-]+`, at most 128 bytes.
    Token: is_token, "a NATS token (1 to 128 letters, digits, `_` and `-`)"
}

/// The node's id, stable for life (`network.node@1`).
pub type NodeId = Token;

/// The last token of the subjects a dispatcher sends on.
pub type DispatcherId = Token;

form! {
    /// A job's id, `job_<ULID>`; its first half is the moment it was made.
    JobId: is_job_id, "a job id (`job_` and a ULID)"
}

impl JobId {
    /// When the id was made, Unix milliseconds, from the ULID's first ten
    /// digits. They hold 50 bits, of which a ULID uses 48: a first digit
    /// above 7, which the contract's pattern allows, reads as the greatest
    /// moment a ULID has, the year 10889, and so as far ahead of any clock.
    pub fn made_ms(&self) -> u64 {
        const GREATEST: u64 = (1 << 48) - 1;
        let digits = self.as_str().bytes().skip("job_".len()).take(10);
        let ms = digits
            .filter_map(crockford)
            .fold(0_u64, |ms, digit| (ms << 5) | u64::from(digit));
        ms.min(GREATEST)
    }
}

form! {
    /// The name of an input file in `/job/in`.
    InputName: is_file_name,
    "a file name (1 to 128 letters, digits, `.`, `_` and `-`, the first a letter or digit)"
}

form! {
    /// An input's id at the media service, `med_<ULID>`.
    MediaId: is_media_id, "a media id (`med_` and a ULID)"
}

form! {
    /// The SHA-256 of some bytes, in lower-case hex.
    Sha256Hex: is_sha256, "a SHA-256 (64 lower-case hex digits)"
}

const NAME: &str = "an artifact's name (1 to 128 lower-case letters, digits, \
                    `.`, `_` and `-`, the first a letter or digit)";
const VERSION: &str = "an artifact's version (1 to 64 letters, digits, `.`, \
                       `+` and `-`, the first a letter or digit)";

/// What a job runs: a declared artifact's name and exact version. Read from
/// a document, a config or by [`ArtifactRef::new`] it is well formed.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(try_from = "Unchecked")]
pub struct ArtifactRef {
    /// `^[a-z0-9][a-z0-9._-]{0,127}$`.
    pub name: String,
    /// `^[0-9A-Za-z][0-9A-Za-z.+-]{0,63}$`.
    pub version: String,
}

impl ArtifactRef {
    /// A well-formed reference.
    ///
    /// # Errors
    /// Says whether name or version is not of its form.
    pub fn new(
        name: impl Into<String>,
        version: impl Into<String>,
    ) -> Result<Self, BadId> {
        let (name, version) = (name.into(), version.into());
        if !is_artifact_name(&name) {
            return Err(BadId { raw: name, wanted: NAME });
        }
        if !is_version(&version) {
            return Err(BadId { raw: version, wanted: VERSION });
        }
        Ok(Self { name, version })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    name: String,
    version: String,
}

impl TryFrom<Unchecked> for ArtifactRef {
    type Error = BadId;
    fn try_from(raw: Unchecked) -> Result<Self, BadId> {
        Self::new(raw.name, raw.version)
    }
}

impl Read for ArtifactRef {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            name: need_with (|at| at.form(is_artifact_name, NAME)),
            version: need_with (|at| at.form(is_version, VERSION)),
        })
    }
}

impl fmt::Display for ArtifactRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(digits: &str) -> JobId {
        JobId::try_from(format!("job_{digits}E5F6G7H8J9K0MNPQ"))
            .expect("a job id")
    }

    #[test]
    fn a_job_id_says_when_it_was_made() {
        assert_eq!(job("0000000000").made_ms(), 0);
        assert_eq!(job("0000000010").made_ms(), 32);
        assert_eq!(job("7ZZZZZZZZZ").made_ms(), (1 << 48) - 1);
    }

    #[test]
    fn an_id_past_the_last_ulid_is_far_ahead_of_any_clock() {
        for first in ["8", "9", "A", "Z"] {
            let id = job(&format!("{first}000000000"));
            assert_eq!(id.made_ms(), (1 << 48) - 1);
        }
    }

    #[test]
    fn an_artifact_is_well_formed_or_not_made() {
        assert!(ArtifactRef::new("py", "3.12+a").is_ok());
        assert!(ArtifactRef::new("Py", "3.12").is_err());
        assert!(ArtifactRef::new("py", "3 12").is_err());
        let json = r#"{"name":"py","version":""}"#;
        assert!(serde_json::from_str::<ArtifactRef>(json).is_err());
    }
}
