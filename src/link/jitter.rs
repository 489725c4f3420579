use std::time::Duration;

/// A source of scatter, so that a fleet never does one thing at one moment.
/// Seeded with the instance, which is random; no secret depends on it.
#[derive(Clone, Debug)]
pub(super) struct Jitter(u64);

impl Jitter {
    /// A source of its own for each text.
    pub(super) fn new(seed: &str) -> Self {
        // FNV-1a: any hash that differs between instances will do.
        Self(seed.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }

    /// The next number (splitmix64).
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = self.0;
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A span from nothing to `most`, evenly.
    pub(super) fn up_to(&mut self, most: Duration) -> Duration {
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        most.mul_f64(unit)
    }
}

/// Pauses that double up to a cap, each taken with full jitter: anything
/// from nothing to the ceiling, as that spreads a fleet best.
#[derive(Clone, Debug)]
pub(super) struct Backoff {
    base: Duration,
    cap: Duration,
    failures: u32,
}

impl Backoff {
    pub(super) fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap, failures: 0 }
    }

    /// The longest that the next pause may be.
    fn ceiling(&self) -> Duration {
        let times = 2_u32.saturating_pow(self.failures);
        self.base.saturating_mul(times).min(self.cap)
    }

    /// The next pause; the one after it may be twice as long.
    pub(super) fn next(&mut self, jitter: &mut Jitter) -> Duration {
        let pause = jitter.up_to(self.ceiling());
        self.failures = self.failures.saturating_add(1);
        pause
    }

    /// Starts over, after a session that held.
    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_cap_and_fill_the_whole_span() {
        let secs = Duration::from_secs;
        let mut backoff = Backoff::new(secs(1), secs(30));
        let ceilings: Vec<u64> = (0..7)
            .map(|_| {
                let ceiling = backoff.ceiling().as_secs();
                let pause = backoff.next(&mut Jitter::new("a"));
                assert!(pause <= secs(ceiling));
                ceiling
            })
            .collect();
        assert_eq!(ceilings, [1, 2, 4, 8, 16, 30, 30]);
    }

    #[test]
    fn a_thousand_nodes_do_not_come_back_in_the_same_instants() {
        let window = Duration::from_millis(1000);
        let mut tenths = [0_u32; 10];
        for node in 0..1000 {
            let at = Jitter::new(&format!("instance {node}")).up_to(window);
            tenths[usize::try_from(at.as_millis() / 100).unwrap().min(9)] += 1;
        }
        assert!(tenths.iter().all(|n| (50..200).contains(n)), "{tenths:?}");
    }

    #[test]
    fn a_session_that_held_makes_the_pauses_short_again() {
        let mut backoff =
            Backoff::new(Duration::from_secs(1), Duration::from_secs(30));
        let mut jitter = Jitter::new("b");
        for _ in 0..40 {
            backoff.next(&mut jitter);
        }
        backoff.reset();
        assert_eq!(backoff.ceiling(), Duration::from_secs(1));
    }
}
