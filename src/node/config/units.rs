use crate::contract::Bytes;
use std::time::Duration;

const LENGTHS: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1000),
    ("ms", 1),
];

const SIZES: [(&str, u64); 9] = [
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("KB", 1000),
    ("B", 1),
];

/// Reads `1h30m`, `10s`, `250ms`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let bad = || {
        format!(
            "`{text}` is not a duration: give numbers with units, \
             as `250ms`, `10s`, `5m`, `1h30m` or `7d`"
        )
    };
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(bad());
    }
    let mut total = 0_u64;
    while !rest.is_empty() {
        let (number, after) = split_number(rest);
        let letters = after
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(letters);
        let unit = LENGTHS.iter().find(|(name, _)| *name == unit);
        let number = number.parse::<u64>().ok();
        let part = unit.zip(number).and_then(|((_, ms), n)| n.checked_mul(*ms));
        total = part.and_then(|ms| total.checked_add(ms)).ok_or_else(bad)?;
        rest = after.trim_start();
    }
    Ok(Duration::from_millis(total))
}

/// Writes what [`duration`] reads.
pub(super) fn show_duration(length: Duration) -> String {
    let mut ms = u64::try_from(length.as_millis()).unwrap_or(u64::MAX);
    if ms == 0 {
        return "0s".to_owned();
    }
    let mut text = String::new();
    for (unit, size) in LENGTHS {
        if ms >= size {
            text.push_str(&format!("{}{unit}", ms / size));
            ms %= size;
        }
    }
    text
}

/// Reads `512MiB`, `1GB`, `1.5 GiB`.
pub(super) fn size(text: &str) -> Result<Bytes, String> {
    let bad = || {
        format!(
            "`{text}` is not a size: give a number with its unit, as \
             `64KiB`, `512MiB`, `2GiB` (1024s) or `1GB` (1000s)"
        )
    };
    let (number, unit) = split_number(text.trim());
    let unit = unit.trim_start();
    let (_, scale) =
        SIZES.iter().find(|(name, _)| *name == unit).ok_or_else(bad)?;
    decimal(number, *scale).map(Bytes).ok_or_else(bad)
}

/// Writes what [`size`] reads, in the greatest unit that divides it.
pub(super) fn show_size(size: Bytes) -> String {
    let whole = |(_, unit): &&(&str, u64)| {
        size.0 >= *unit && size.0.is_multiple_of(*unit)
    };
    match SIZES.iter().find(whole) {
        Some((name, unit)) => format!("{}{name}", size.0 / unit),
        None => "0B".to_owned(),
    }
}

fn split_number(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    text.split_at(end)
}

/// `number × scale` in whole numbers; nine decimals are enough for anyone.
fn decimal(number: &str, scale: u64) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    if part.is_empty() || part.len() > 9 {
        return None;
    }
    let tens = 10_u128.pow(u32::try_from(part.len()).ok()?);
    let whole = u128::from(whole.parse::<u64>().ok()?);
    let part = u128::from(part.parse::<u64>().ok()?);
    let scaled = (whole * tens + part).checked_mul(u128::from(scale))?;
    u64::try_from(scaled / tens).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_read_as_people_write_them() {
        let ms = |text| duration(text).map(|d| d.as_millis());
        assert_eq!(ms("10s"), Ok(10_000));
        assert_eq!(ms("1h30m"), Ok(5_400_000));
        assert_eq!(ms("250ms"), Ok(250));
        assert_eq!(ms("1h 5s"), Ok(3_605_000));
        for bad in ["", "10", "s", "1.5s", "-1s", "10 parsecs", "1h30"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_read_as_people_write_them() {
        assert_eq!(size("512MiB"), Ok(Bytes::mib(512)));
        assert_eq!(size("1GB"), Ok(Bytes(1_000_000_000)));
        assert_eq!(size("1.5 GiB"), Ok(Bytes::mib(1536)));
        for bad in ["", "512", "1M", "-1B", "1.MiB", "99999999TiB", "1..2B"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(n in any::<u64>()) {
            prop_assert_eq!(size(&show_size(Bytes(n))), Ok(Bytes(n)));
            let length = Duration::from_millis(n);
            prop_assert_eq!(duration(&show_duration(length)), Ok(length));
        }
    }
}
