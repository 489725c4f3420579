use crate::contract::{MilliCores, Timestamp};

/// A space where a line must not break: written as a plain one.
pub(super) const GLUE: char = '\u{a0}';

/// A length of time in its two greatest units, as `3 h 20 min`.
pub(in crate::cli) fn span(ms: u64) -> String {
    const SECOND: u64 = 1000;
    const MINUTE: u64 = 60 * SECOND;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let two = |great: u64, name: &str, small: u64, part: &str| {
        let (whole, rest) = (ms / great, ms % great / small);
        if rest == 0 {
            format!("{whole}{GLUE}{name}")
        } else {
            format!("{whole}{GLUE}{name}{GLUE}{rest}{GLUE}{part}")
        }
    };
    match ms {
        0..SECOND => format!("{ms}{GLUE}ms"),
        SECOND..MINUTE => format!("{}{GLUE}s", ms / SECOND),
        MINUTE..HOUR => two(MINUTE, "min", SECOND, "s"),
        HOUR..DAY => two(HOUR, "h", MINUTE, "min"),
        DAY.. => two(DAY, "d", HOUR, "h"),
    }
}

/// How long ago `then` was.
pub(super) fn age(then: Timestamp, now: Timestamp) -> String {
    span(now.0.saturating_sub(then.0))
}

/// A share of a whole, as `52 %`. What is no share is said to be unknown.
pub(super) fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "unknown".to_owned();
    }
    let share = share.clamp(0.0, 1.0) * 100.0;
    // 0 and 100 are said only of what is exactly that.
    let share = match share {
        s if s > 0.0 && s < 1.0 => 1.0,
        s if s < 100.0 && s > 99.0 => 99.0,
        s => s.round(),
    };
    format!("{share}{GLUE}%")
}

/// Cores with at most two digits of their parts, as `3.84`.
pub(super) fn cores(of: MilliCores) -> String {
    let text = format!("{:.2}", of.cores());
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

/// So many of something, as `1 core` and `2 cores`.
pub(super) fn many(n: impl ToString, one: &str) -> String {
    let n = n.to_string();
    let plural = if n == "1" { "" } else { "s" };
    format!("{n}{GLUE}{one}{plural}")
}

/// A number with its thousands apart, as `1,204`.
pub(super) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Something with a unit, kept on one line.
pub(super) fn glued(text: impl ToString) -> String {
    text.to_string().replace(' ', "\u{a0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: String) -> String {
        text.replace(GLUE, " ")
    }

    #[test]
    fn a_span_is_said_in_its_two_greatest_units() {
        let said: Vec<_> = [0, 999, 59_999, 60_000, 83_000, 11_400_000]
            .into_iter()
            .chain([86_400_000, u64::MAX])
            .map(|ms| plain(span(ms)))
            .collect();
        assert_eq!(
            said,
            [
                "0 ms",
                "999 ms",
                "59 s",
                "1 min",
                "1 min 23 s",
                "3 h 10 min",
                "1 d",
                "213503982334 d 14 h",
            ]
        );
    }

    #[test]
    fn a_clock_that_went_back_makes_no_age_below_zero() {
        assert_eq!(plain(age(Timestamp(9), Timestamp(5))), "0 ms");
    }

    #[test]
    fn a_share_is_nothing_or_all_only_if_it_is() {
        let said = [0.0, 0.001, 0.5249, 0.999, 1.0, 7.0, f64::NAN]
            .map(|share| plain(percent(share)));
        assert_eq!(
            said,
            ["0 %", "1 %", "52 %", "99 %", "100 %", "100 %", "unknown"]
        );
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(
            [0, 999, 1204, 1_000_000].map(count),
            ["0", "999", "1,204", "1,000,000"]
        );
    }
}
