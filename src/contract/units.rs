use serde::{Deserialize, Serialize};
use std::fmt;

/// A number of bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord,
    Serialize, Deserialize,
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
    pub fn mb(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// Gigabytes of a thousand million bytes, the contracts' `_gb`.
    pub fn gb(self) -> f64 {
        self.0 as f64 / 1e9
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

/// Thousandths of a processor core.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord,
    Serialize, Deserialize,
)]
pub struct MilliCores(pub u64);

impl MilliCores {
    /// Whole and part cores, as the contracts' `cores`.
    pub fn cores(self) -> f64 {
        self.0 as f64 / 1000.0
    }
    /// This less `other`, never below zero.
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}
