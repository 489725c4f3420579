use crate::contract::Subjects;
use bytes::Bytes as Payload;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use tokio::time::Instant;

/// An offer whose document says of itself what its subject says.
#[derive(Clone, Debug)]
pub struct OfferSeen {
    /// `P.offer.<trust>.<kind>.<region>.<node>.<offer_id>`.
    pub subject: String,
    /// The document, as it came.
    pub payload: Payload,
    /// `Ov-Reason` headers, as `code; text`.
    pub reasons: Vec<String>,
}

impl OfferSeen {
    fn token(&self, at: usize) -> &str {
        // Counted from the end, so that the prefix may have any form.
        self.subject.rsplit('.').nth(at).unwrap_or_default()
    }

    /// How far the node may be trusted.
    pub fn trust(&self) -> &str {
        self.token(4)
    }

    /// What is offered: `node`, `harness`, ….
    pub fn kind(&self) -> &str {
        self.token(3)
    }

    /// Where it stands.
    pub fn region(&self) -> &str {
        self.token(2)
    }

    /// Whose offer it is.
    pub fn node(&self) -> &str {
        self.token(1)
    }

    /// The offer's own id.
    pub fn offer_id(&self) -> &str {
        self.token(0)
    }

    /// The few fields that decide where a job goes; `None` where the
    /// document has not even those.
    pub fn view(&self) -> Option<OfferView> {
        let raw: RawView = serde_json::from_slice(&self.payload).ok()?;
        Some(OfferView {
            status: raw.health.status,
            capabilities: raw.capabilities,
            free: raw.capacity.workers,
        })
    }
}

/// The few fields of an offer that decide where a job goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferView {
    /// `up`, `degraded`, `draining` or `down`.
    pub status: String,
    /// As `worker:code`.
    pub capabilities: Vec<String>,
    /// Free slots by class.
    pub free: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
struct RawView {
    health: RawHealth,
    capabilities: Vec<String>,
    #[serde(default)]
    capacity: RawCapacity,
}

#[derive(Deserialize)]
struct RawHealth {
    status: String,
}

#[derive(Default, Deserialize)]
struct RawCapacity {
    #[serde(default)]
    workers: BTreeMap<String, u64>,
}

/// What an offer says of itself of that its subject says. A view, as every
/// offer of the fleet is judged by it, thousands in each interval: reading a
/// whole offer is left to who means to send a job there.
#[derive(Deserialize)]
struct Claims<'a> {
    #[serde(borrow)]
    trust: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    region: Cow<'a, str>,
    #[serde(borrow)]
    node_id: Cow<'a, str>,
    #[serde(borrow)]
    offer_id: Cow<'a, str>,
}

/// Whether a document says of itself what its subject says.
fn agrees(subject: &str, payload: &[u8]) -> bool {
    let Ok(claims) = serde_json::from_slice::<Claims<'_>>(payload) else {
        return false;
    };
    let Claims { trust, kind, region, node_id, offer_id } = claims;
    let claimed = [&*trust, &*kind, &*region, &*node_id, &*offer_id];
    Subjects::is_offer(subject, claimed)
}

/// Subjects that are followed. A fleet has one a node and a few more; what
/// is beyond is still handed on, only its end is not noticed.
const FOLLOWED: usize = 1 << 20;

/// Which offers are alive, by when they arrived.
#[derive(Debug)]
pub(super) struct Fleet {
    patience: Duration,
    heard: HashMap<String, Instant>,
}

impl Fleet {
    /// A fleet whose offers are gone when not refreshed for `patience`.
    pub(super) fn new(patience: Duration) -> Self {
        Self { patience, heard: HashMap::new() }
    }

    /// Takes in what came on a subject; false if it is not to be believed.
    pub(super) fn take(
        &mut self,
        subject: &str,
        payload: &[u8],
        now: Instant,
    ) -> bool {
        if !agrees(subject, payload) {
            return false;
        }
        if let Some(at) = self.heard.get_mut(subject) {
            *at = now;
        } else if self.heard.len() < FOLLOWED {
            self.heard.insert(subject.to_owned(), now);
        }
        true
    }

    /// The subjects that were not refreshed in time, once each.
    pub(super) fn sweep(&mut self, now: Instant) -> Vec<String> {
        let patience = self.patience;
        let late = |_: &String, at: &mut Instant| {
            now.saturating_duration_since(*at) >= patience
        };
        self.heard.extract_if(late).map(|(subject, _)| subject).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBJECT: &str = "ov.offer.user-owned.node.eu.n1.off_1";
    const OFFER: &str = r#"{"offer_id":"off_1","kind":"node","node_id":"n1",
        "region":"eu","trust":"user-owned","capabilities":["worker:code"],
        "capacity":{"workers":{"code":2}},"health":{"status":"up"},
        "pricing":{"model":"free-allowance"},"updated_at":"x"}"#;

    #[test]
    fn an_offer_that_differs_from_its_subject_is_not_believed() {
        let mut fleet = Fleet::new(Duration::from_secs(30));
        let now = Instant::now();
        assert!(fleet.take(SUBJECT, OFFER.as_bytes(), now));
        for (said, claimed) in [
            ("off_1", "off_2"),
            ("n1", "n2"),
            ("\"eu\"", "\"us\""),
            ("\"node\"", "\"runtime\""),
            ("user-owned", "first-party"),
        ] {
            let other = OFFER.replace(said, claimed);
            assert!(!fleet.take(SUBJECT, other.as_bytes(), now), "{claimed}");
        }
        assert!(!fleet.take(SUBJECT, b"{}", now));
        assert!(!fleet.take("ov.n1.off_1", OFFER.as_bytes(), now));
    }

    #[test]
    fn an_offer_not_refreshed_in_time_is_gone_once() {
        let mut fleet = Fleet::new(Duration::from_secs(30));
        let now = Instant::now();
        let at = |secs| now + Duration::from_secs(secs);
        fleet.take(SUBJECT, OFFER.as_bytes(), now);
        fleet.take(SUBJECT, OFFER.as_bytes(), at(20));
        assert!(fleet.sweep(at(40)).is_empty());
        assert_eq!(fleet.sweep(at(50)), [SUBJECT]);
        assert!(fleet.sweep(at(60)).is_empty());
    }

    #[test]
    fn the_subject_says_whose_offer_it_is_and_the_view_what_is_free() {
        let seen = OfferSeen {
            subject: SUBJECT.to_owned(),
            payload: OFFER.into(),
            reasons: Vec::new(),
        };
        assert_eq!((seen.trust(), seen.kind()), ("user-owned", "node"));
        assert_eq!((seen.region(), seen.node()), ("eu", "n1"));
        assert_eq!(seen.offer_id(), "off_1");
        let view = seen.view().unwrap();
        assert_eq!((view.status.as_str(), view.free["code"]), ("up", 2));
    }
}
