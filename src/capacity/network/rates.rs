use crate::capacity::NetworkSample;
use std::collections::BTreeMap;

/// An interface is another one when its index changed, though its name did
/// not (it was made anew), and when its name changed.
pub(super) type Link = (u64, String);

/// What one interface has counted since it came up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counted {
    pub(super) received: u64,
    pub(super) sent: u64,
    /// Of this interface; absent where the driver does not say.
    pub(super) line_mbps: Option<f64>,
}

/// All uplinks of one moment.
pub(super) type Counts = BTreeMap<Link, Counted>;

/// Rates over a window; `None` where it tells nothing. A counter that went
/// back was reset or wrapped, and which of the two cannot be told: what
/// passed in that window is not known, so nothing is said of it.
pub(super) fn rates(
    old: &Counts,
    new: &Counts,
    window_ms: u64,
) -> Option<(f64, f64)> {
    let (mut ingress, mut egress, mut seen) = (0.0, 0.0, false);
    for (link, now) in new {
        // One that came up within the window is counted from the next on.
        let Some(then) = old.get(link) else { continue };
        let received = now.received.checked_sub(then.received)?;
        let sent = now.sent.checked_sub(then.sent)?;
        ingress += mbps(received, window_ms, now.line_mbps)?;
        egress += mbps(sent, window_ms, now.line_mbps)?;
        seen = true;
    }
    seen.then_some((ingress, egress))
}

/// A rate above the line's is a counter gone wrong, or one that was read a
/// moment late: the line is the most that can have passed.
fn mbps(bytes: u64, window_ms: u64, line: Option<f64>) -> Option<f64> {
    if window_ms == 0 {
        return None;
    }
    let rate = bytes as f64 * 8.0 / (window_ms as f64 * 1000.0);
    Some(line.map_or(rate, |line| rate.min(line)))
}

/// The sample of a window.
pub(super) fn sample(
    rates: (f64, f64),
    line_mbps: Option<f64>,
) -> NetworkSample {
    let under = |rate: f64| line_mbps.map_or(rate, |line| rate.min(line));
    NetworkSample {
        ingress_mbps: under(rates.0),
        egress_mbps: under(rates.1),
        line_mbps,
    }
}
