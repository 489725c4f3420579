use crate::contract::Timestamp;
use serde::{Deserialize, Serialize};

/// Who a daemon is among those that live under one node id: asked and
/// answered on the node's own subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Presence {
    /// Random for each start.
    pub(super) instance: String,
    /// When it started.
    pub(super) started_ms: Timestamp,
    /// Which of its own questions this is; absent in an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) echo: Option<u64>,
}

/// What another's presence means for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is ourselves.
    Myself,
    /// It was here first: we stop serving.
    Yield,
    /// We were here first: it will stop by itself, once it hears us.
    Stay,
}

/// Of two the later start yields, then the greater instance: both sides
/// come to the same answer from the same facts.
pub(super) fn judge(mine: &Presence, theirs: &Presence) -> Verdict {
    let rank = |p: &Presence| (p.started_ms, p.instance.clone());
    match rank(theirs).cmp(&rank(mine)) {
        std::cmp::Ordering::Equal => Verdict::Myself,
        std::cmp::Ordering::Less => Verdict::Yield,
        std::cmp::Ordering::Greater => Verdict::Stay,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn presence(instance: &str, started_ms: u64) -> Presence {
        Presence {
            instance: instance.to_owned(),
            started_ms: Timestamp(started_ms),
            echo: None,
        }
    }

    #[test]
    fn the_later_start_yields_whatever_its_instance() {
        let (early, late) = (presence("z", 1), presence("a", 2));
        assert_eq!(judge(&late, &early), Verdict::Yield);
        assert_eq!(judge(&early, &late), Verdict::Stay);
    }

    #[test]
    fn of_two_started_in_one_millisecond_the_greater_instance_yields() {
        let (a, b) = (presence("a", 1), presence("b", 1));
        assert_eq!(judge(&b, &a), Verdict::Yield);
        assert_eq!(judge(&a, &b), Verdict::Stay);
        assert_eq!(judge(&a, &a.clone()), Verdict::Myself);
    }
}
