use super::read::{At, Read};
use jiff::civil::{Date, date};
use serde::{Deserialize, Serialize};

/// A moment of wall time, Unix milliseconds. Anything stored or sent uses it.
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
pub struct Timestamp(pub u64);

impl Timestamp {
    /// RFC 3339 in UTC with milliseconds, as the contracts' `date-time`.
    pub fn to_rfc3339(self) -> String {
        let ms = i64::try_from(self.0).unwrap_or(i64::MAX);
        let at = jiff::Timestamp::from_millisecond(ms)
            .unwrap_or(jiff::Timestamp::MAX);
        format!("{at:.3}")
    }

    /// The moment that a `date-time` of the contracts means, to the
    /// millisecond; before 1970 it is 1970. `None` where the text is no such
    /// date: no leap second, no year 0, no hour 24, nothing left out.
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        // `2026-03-01T12:00:00`, then a fraction, then the offset.
        let (moment, tail) = text.split_at_checked(19)?;
        let seconds = whole_seconds(moment.as_bytes())?;
        let zone = tail.find(['Z', 'z', '+', '-'])?;
        let (fraction, zone) = tail.split_at(zone);
        let ms = milliseconds(fraction)?;
        let ms = (seconds - offset_seconds(zone)?) * 1000 + ms;
        Some(Self(u64::try_from(ms).unwrap_or(0)))
    }

    /// Reads a `date-time`.
    pub(super) fn read_rfc3339(at: At<'_>) -> Option<Self> {
        Self::from_rfc3339(at.str()?)
            .or_else(|| at.refuse("a date and time with its offset (RFC 3339)"))
    }

    /// Writes a `date-time`.
    pub(super) fn write_rfc3339<S: serde::Serializer>(
        &self,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.to_rfc3339())
    }

    /// Writes a `date-time`, where there is one.
    pub(super) fn write_maybe_rfc3339<S: serde::Serializer>(
        at: &Option<Self>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match at {
            Some(at) => at.write_rfc3339(to),
            None => to.serialize_none(),
        }
    }
}

/// Unix milliseconds.
impl Read for Timestamp {
    fn read(at: At<'_>) -> Option<Self> {
        at.count(0).map(Self)
    }
}

/// Seconds since 1970 of `yyyy-mm-ddThh:mm:ss`, as if it were UTC.
fn whole_seconds(text: &[u8]) -> Option<i64> {
    let [
        year @ ..,
        b'-',
        m1,
        m2,
        b'-',
        d1,
        d2,
        b'T' | b't',
        h1,
        h2,
        b':',
        n1,
        n2,
        b':',
        s1,
        s2,
    ] = text
    else {
        return None;
    };
    let year = year
        .iter()
        .try_fold(0_i16, |year, &b| Some(year * 10 + i16::from(digit(b)?)))?;
    let month = pair(*m1, *m2, 12)?;
    let day = Date::new(year, month, pair(*d1, *d2, 31)?).ok()?;
    if year == 0 {
        return None;
    }
    let of_day =
        clock(*h1, *h2, *n1, *n2)? * 60 + i64::from(pair(*s1, *s2, 59)?);
    Some(day.duration_since(date(1970, 1, 1)).as_secs() + of_day)
}

/// Milliseconds of `.123456`, or of nothing.
fn milliseconds(text: &str) -> Option<i64> {
    let Some(digits) = text.strip_prefix('.') else {
        return text.is_empty().then_some(0);
    };
    let clean = digits.bytes().all(|b| b.is_ascii_digit());
    if digits.is_empty() || !clean {
        return None;
    }
    let mut ms = 0;
    for at in 0..3 {
        let digit = digits.as_bytes().get(at).map_or(0, |b| b - b'0');
        ms = ms * 10 + i64::from(digit);
    }
    Some(ms)
}

/// Seconds east of UTC of `Z`, `+01:30` or `-01:30`.
fn offset_seconds(text: &str) -> Option<i64> {
    match text.as_bytes() {
        b"Z" | b"z" => Some(0),
        [sign, h1, h2, b':', n1, n2] => {
            let east = clock(*h1, *h2, *n1, *n2)? * 60;
            Some(if *sign == b'-' { -east } else { east })
        }
        _ => None,
    }
}

/// Minutes of `hh:mm`.
fn clock(h1: u8, h2: u8, n1: u8, n2: u8) -> Option<i64> {
    let (hours, minutes) = (pair(h1, h2, 23)?, pair(n1, n2, 59)?);
    Some(i64::from(hours) * 60 + i64::from(minutes))
}

/// Two digits, `greatest` at most.
fn pair(tens: u8, ones: u8, greatest: i8) -> Option<i8> {
    let n = digit(tens)? * 10 + digit(ones)?;
    (n <= greatest).then_some(n)
}

fn digit(byte: u8) -> Option<i8> {
    i8::try_from(byte.checked_sub(b'0')?).ok().filter(|d| *d <= 9)
}

/// Milliseconds of CLOCK_MONOTONIC: stands still while the machine sleeps.
/// All job time is counted on it.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
)]
pub struct MonoMs(pub u64);

/// Milliseconds of CLOCK_BOOTTIME: goes on while the machine sleeps. A job's
/// ttl is counted on it.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
)]
pub struct BootMs(pub u64);

/// One reading of the three clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Wall time: ages of ids and signatures, and what people read.
    pub wall: Timestamp,
    /// Job time.
    pub mono: MonoMs,
    /// Time to live.
    pub boot: BootMs,
}

/// Where a task gets the time from. Read for real only in `node::clock`.
pub trait Clock: Send + Sync + 'static {
    /// The three clocks, now.
    fn now(&self) -> Now;
}
