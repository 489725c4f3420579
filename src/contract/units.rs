use super::read::{At, Read};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A number of bytes.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
)]
pub struct Bytes(pub u64);

impl Bytes {
    /// `n` KiB.
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }
    /// `n` MiB.
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }
    /// Megabytes of a million bytes, the contracts' `_mb`.
    pub fn mb(self) -> Amount {
        Amount(self.0 as f64 / 1e6)
    }
    /// Gigabytes of a thousand million bytes, the contracts' `_gb`.
    pub fn gb(self) -> Amount {
        Amount(self.0 as f64 / 1e9)
    }
    /// This less `other`, never below zero.
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 3] =
            [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        for (size, unit) in UNITS {
            if self.0 >= size {
                let n = self.0 as f64 / size as f64;
                return write!(f, "{n:.1} {unit}");
            }
        }
        write!(f, "{} B", self.0)
    }
}

/// A share of a whole, 0 to 1 by construction.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
pub struct Ratio(f64);

impl Ratio {
    /// The ratio nearest to `x`; `None` if `x` is not a number.
    pub fn clamped(x: f64) -> Option<Self> {
        (!x.is_nan()).then(|| Self(x.clamp(0.0, 1.0)))
    }
    /// The number itself.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl Read for Bytes {
    fn read(at: At<'_>) -> Option<Self> {
        at.count(0).map(Self)
    }
}

impl Read for Ratio {
    fn read(at: At<'_>) -> Option<Self> {
        at.number(Some(1.0)).and_then(Self::clamped)
    }
}

/// How much of something there is: a finite number from 0 up.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize,
)]
#[serde(try_from = "f64")]
pub struct Amount(f64);

impl Amount {
    /// The amount nearest to `x`; `None` if `x` is not a number.
    pub fn clamped(x: f64) -> Option<Self> {
        (!x.is_nan()).then(|| Self(x.clamp(0.0, f64::MAX)))
    }
    /// The number itself.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A config says a price as a number; one below 0 is refused.
impl TryFrom<f64> for Amount {
    type Error = BadAmount;
    fn try_from(x: f64) -> Result<Self, BadAmount> {
        match Self::clamped(x) {
            Some(amount) if amount.0 == x => Ok(amount),
            Some(_) | None => Err(BadAmount(x)),
        }
    }
}

/// A number that is no amount.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is not a number from 0 up")]
pub struct BadAmount(pub f64);

impl Read for Amount {
    fn read(at: At<'_>) -> Option<Self> {
        at.number(None).and_then(Self::clamped)
    }
}

/// Thousandths of a processor core.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
)]
pub struct MilliCores(pub u64);

impl MilliCores {
    /// Whole and part cores, as the contracts' `cores`.
    pub fn cores(self) -> Amount {
        Amount(self.0 as f64 / 1000.0)
    }
    /// This less `other`, never below zero.
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}
