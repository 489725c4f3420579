//! What tests over a real NATS server share: the server itself, a proxy in
//! front of it that can break, a recorder of everything that passes, and a
//! link with short intervals.
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

pub(crate) mod dispatch; // a dispatcher, and the examples run as one
pub(crate) mod link; // a link with short intervals, and its clock
pub(crate) mod nats; // a real nats-server, killed at the end
pub(crate) mod proxy; // a TCP proxy that cuts, stalls and delays
pub(crate) mod recorder; // everything that passes
pub(crate) mod stub; // a node that only pretends

use std::time::Duration;

/// The longest that anything is waited for. A test that is well never needs
/// it; a machine that is busy with other things may.
pub(crate) const LONG: Duration = Duration::from_secs(30);

/// The value of `future`, which must come before `LONG` is over.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, future).await.unwrap()
}
