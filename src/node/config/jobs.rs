use super::section::Section;
use crate::contract::NetPolicy;
use std::ops::Range;
use std::time::Duration;

/// What every job has in common, whatever its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobsConfig {
    /// How far a job may reach at most.
    pub net: NetPolicy,
    /// Between TERM and KILL.
    pub cancel_grace: Duration,
    /// Users of jobs, one each while it runs.
    pub uids: Range<u32>,
}

/// Between systemd's range for containers and 2^31, beyond which some
/// filesystems lose a bit; `/etc/subuid` hands out nothing up there either.
const FIRST_UID: u32 = 1_900_000_000;

/// Reads `[jobs]`.
pub(super) fn read(mut section: Section<'_>) -> JobsConfig {
    let net = net(&mut section);
    let grace = Duration::from_secs(5);
    let bounds = Duration::ZERO..=Duration::from_secs(300);
    let cancel_grace = section.within("cancel_grace", grace, bounds);
    // Below 1000 live the system's own users. 2^32 - 1 is "no user", and
    // 2^16 users are more than one machine ever runs jobs.
    let first = section.within("uid_first", FIRST_UID, 1000..=4_000_000_000);
    let count = section.within("uid_count", 65_536, 1..=1_000_000);
    let end = first.saturating_add(count);
    if (first..end).contains(&65_534) {
        section.fault("uid_first", "and its count hold 65534, `nobody`");
    }
    section.done();
    JobsConfig { net, cancel_grace, uids: first..end }
}

/// Only `deny` can be kept yet; a policy that cannot be kept is refused
/// rather than quietly closed, or worse, quietly open.
fn net(section: &mut Section<'_>) -> NetPolicy {
    let words = ["deny", "openvibe-only", "public"];
    let net = section.word("net", (&words, NetPolicy::from_name), "deny");
    let net = net.unwrap_or_default();
    if net != NetPolicy::Deny {
        let message = "cannot be kept by this version, which has no egress \
             rules yet: only \"deny\" can";
        section.fault("net", message);
    }
    net
}
