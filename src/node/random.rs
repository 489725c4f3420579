//! Chance, for times that must not fall together.

use ulid::Ulid;

/// A number from 0 up to, and without, 1.
pub(crate) fn share() -> f64 {
    // The low 32 of a ULID's 80 random bits; both fit a float exactly.
    let low = u32::try_from(Ulid::generate().random() & 0xffff_ffff);
    f64::from(low.unwrap_or_default()) / 4_294_967_296.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_less_than_the_whole_and_not_always_the_same() {
        let shares: Vec<f64> = (0..50).map(|_| share()).collect();
        assert!(shares.iter().all(|x| (0.0..1.0).contains(x)));
        assert!(shares.iter().any(|x| (x - shares[0]).abs() > 1e-3));
    }
}
