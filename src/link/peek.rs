use crate::contract::{Answer, Envelope, FaultCode, Timestamp};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

/// Payloads above this are not kept: 64 waiting frames of a server that
/// allows messages of 64 MiB would be 4 GiB. What is larger is refused by
/// its size alone.
pub(super) const KEPT_LIMIT: usize = 1 << 20;

/// Which queue a frame belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Jobs, and everything that cannot be read: admission answers it.
    Job,
    /// A cancel or an acknowledgement.
    Control,
}

#[derive(Deserialize)]
struct TypeOnly<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
}

/// Reads no more than the type; copies nothing.
pub(super) fn kind(payload: &[u8], size: usize) -> Kind {
    if size > Envelope::MAX_BYTES {
        return Kind::Job;
    }
    match serde_json::from_slice::<TypeOnly<'_>>(payload) {
        Ok(TypeOnly { kind })
            if kind == "job_cancel" || kind == "job_exit_ack" =>
        {
            Kind::Control
        }
        Ok(_) | Err(_) => Kind::Job,
    }
}

/// What a refusal repeats of the frame it refuses. Small on purpose: as many
/// may wait as a burst has frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Echoed {
    pub(super) seq: u64,
    pub(super) id: Option<String>,
}

#[derive(Deserialize)]
struct Ids {
    #[serde(default)]
    seq: Value,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    job: Option<JobOnly>,
}

#[derive(Deserialize)]
struct JobOnly {
    #[serde(default)]
    id: Option<String>,
}

/// A job's id has 30 bytes; one much longer is not echoed.
const ID_LIMIT: usize = 64;

/// Reads what a refusal repeats; nothing where it cannot be read.
pub(super) fn echoed(payload: &[u8], size: usize) -> Echoed {
    if size > Envelope::MAX_BYTES {
        return Echoed::default();
    }
    let Ok(ids) = serde_json::from_slice::<Ids>(payload) else {
        return Echoed::default();
    };
    let id = ids.job.and_then(|job| job.id).or(ids.id);
    let seq = ids.seq.as_u64().unwrap_or_default();
    Echoed { seq, id: id.filter(|id| id.len() <= ID_LIMIT) }
}

/// The refusal of a frame for which there is no room.
pub(super) fn no_room(of: &Echoed, limit: usize, now: Timestamp) -> Vec<u8> {
    let message = format!("{limit} requests wait already, the most there may");
    let (seq, id, code) = (of.seq, of.id.clone(), FaultCode::NotReady);
    Answer::Nack { seq, ts: now, id, code, message }.to_json()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cancels_and_acknowledgements_are_controls() {
        let of = |text: &str| kind(text.as_bytes(), text.len());
        assert_eq!(of(r#"{"v":1,"type":"job_cancel"}"#), Kind::Control);
        assert_eq!(of(r#"{"type":"job_\u0065xit_ack"}"#), Kind::Control);
        assert_eq!(of(r#"{"v":1,"type":"job"}"#), Kind::Job);
        for unreadable in ["", "[]", "{", r#"{"type":3}"#, "\u{0}"] {
            assert_eq!(of(unreadable), Kind::Job);
        }
        let large = br#"{"type":"job_cancel"}"#;
        assert_eq!(kind(large, Envelope::MAX_BYTES + 1), Kind::Job);
    }

    #[test]
    fn a_refusal_repeats_seq_and_id_where_they_can_be_read() {
        let frame = br#"{"v":1,"seq":7,"type":"job","job":{"id":"job_X"}}"#;
        let of = echoed(frame, frame.len());
        let nack: Value =
            serde_json::from_slice(&no_room(&of, 64, Timestamp(5))).unwrap();
        assert_eq!(nack["seq"], 7);
        assert_eq!(nack["id"], "job_X");
        assert_eq!(nack["fault_code"], "not_ready");
        assert!(nack["message"].as_str().unwrap().contains("64"));
    }

    #[test]
    fn a_refusal_without_readable_words_says_seq_0_and_no_id() {
        for frame in ["{", r#"{"seq":"x","job":[]}"#] {
            let of = echoed(frame.as_bytes(), frame.len());
            let nack: Value =
                serde_json::from_slice(&no_room(&of, 64, Timestamp(5)))
                    .unwrap();
            assert_eq!(nack["seq"], 0);
            assert!(nack.get("id").is_none());
        }
    }
}
