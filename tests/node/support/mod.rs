//! A whole daemon, a NATS server, and a dispatcher who knows the wire only
//! from its documentation.

pub(crate) mod daemon; // a daemon of the test's own
#[path = "../../support/nats.rs"]
#[expect(dead_code, reason = "the tests of the link need more of it")]
pub(crate) mod nats; // a real nats-server
pub(crate) mod recorder; // everything that passes, held to the contracts
pub(crate) mod wait; // a value, with a limit
pub(crate) mod wire; // jobs as JSON over NATS

use std::time::Duration;

/// The longest that anything is waited for. A test that is well never needs
/// it; a machine that is busy with other things may.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// The value of `future`, which must come before `LONG` is over.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LONG, future).await.expect("in time")
}
