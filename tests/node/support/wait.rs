//! Waiting for a value, with a limit.

use std::time::{Duration, Instant};

/// Asks until there is a value. Tests never depend on speed: the limit only
/// turns a hang into a failure that says what was waited for.
pub(crate) async fn eventually<T>(
    what: &str,
    limit: Duration,
    mut ask: impl FnMut() -> Option<T>,
) -> T {
    let begun = Instant::now();
    loop {
        if let Some(value) = ask() {
            return value;
        }
        assert!(begun.elapsed() < limit, "within {limit:?}: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
