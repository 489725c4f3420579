//! The contracts' patterns, written out: the schemas have a dozen simple
//! ones, and a matcher of bytes neither allocates nor surprises (`$` never
//! matches before a last line break here).

const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The value of one digit of a ULID.
pub(super) fn crockford(byte: u8) -> Option<u8> {
    let at = CROCKFORD.iter().position(|&digit| digit == byte)?;
    u8::try_from(at).ok()
}

/// `^<prefix>[0-9A-HJKMNP-TV-Z]{26}$`.
fn is_ulid(text: &str, prefix: &str) -> bool {
    let Some(tail) = text.strip_prefix(prefix) else { return false };
    tail.len() == 26 && tail.bytes().all(|b| crockford(b).is_some())
}

/// A job's id.
pub(super) fn is_job_id(text: &str) -> bool {
    is_ulid(text, "job_")
}

/// A media service's id.
pub(super) fn is_media_id(text: &str) -> bool {
    is_ulid(text, "med_")
}

/// A project's id.
pub(super) fn is_project_id(text: &str) -> bool {
    is_ulid(text, "prj_")
}

/// `^[A-Za-z0-9_-]{1,128}$`: no contract's, but what NATS subjects and the
/// buckets of JetStream take alike.
pub(super) fn is_token(text: &str) -> bool {
    let token_like =
        |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    (1..=128).contains(&text.len()) && text.bytes().all(token_like)
}

/// `^[a-z][a-z0-9-]*:[a-z0-9.-]+$`.
pub(super) fn is_capability(text: &str) -> bool {
    let Some((name, value)) = text.split_once(':') else { return false };
    let name_like = |b: u8| is_lower(b) || b == b'-';
    let value_like = |b: u8| is_lower(b) || b == b'-' || b == b'.';
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(name_like)
        && !value.is_empty()
        && value.bytes().all(value_like)
}

/// `^[a-z][a-z0-9.-]*$`, at most 40.
pub(super) fn is_runtime_need(text: &str) -> bool {
    text.len() <= 40
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|b| is_lower(b) || b == b'-' || b == b'.')
}

/// `^[a-z0-9][a-z0-9._-]{0,127}$`.
pub(super) fn is_artifact_name(text: &str) -> bool {
    sized(text, is_lower) && text.bytes().all(|b| is_lower(b) || in_name(b))
}

/// `^[0-9A-Za-z][0-9A-Za-z.+-]{0,63}$`.
pub(super) fn is_version(text: &str) -> bool {
    let version_like =
        |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'-');
    text.len() <= 64
        && sized(text, |b| b.is_ascii_alphanumeric())
        && text.bytes().all(version_like)
}

/// `^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`.
pub(super) fn is_file_name(text: &str) -> bool {
    sized(text, |b| b.is_ascii_alphanumeric())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || in_name(b))
}

/// `^[0-9a-f]{64}$`.
pub(super) fn is_sha256(text: &str) -> bool {
    let hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    text.len() == 64 && text.bytes().all(hex)
}

fn sized(text: &str, first: impl FnOnce(u8) -> bool) -> bool {
    text.len() <= 128 && text.bytes().next().is_some_and(first)
}

fn is_lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn in_name(byte: u8) -> bool {
    matches!(byte, b'.' | b'_' | b'-')
}
