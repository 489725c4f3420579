/// The one of `known` that `word` was probably meant to be.
///
/// A third of the letters may be wrong: more, and a guess misleads more
/// than it helps.
fn nearest<'k>(
    word: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Option<&'k str> {
    let most = (word.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|name| (distance(word, name), name))
        .filter(|(apart, _)| *apart <= most)
        .min_by_key(|(apart, _)| *apart)
        .map(|(_, name)| name)
}

/// What an unknown key was probably meant to be, or what there is.
pub(super) fn did_you_mean(key: &str, known: &[&str]) -> String {
    match nearest(key, known.iter().copied()) {
        Some(meant) => format!("unknown key: did you mean `{meant}`?"),
        None => format!("unknown key (there are {})", known.join(", ")),
    }
}

/// Letters to insert, drop, change or swap with the next.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<_>, Vec<_>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (rows[i - 1][j] + 1)
                .min(row[j - 1] + 1)
                .min(rows[i - 1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_the_key() {
        let known = ["servers", "token", "user", "prefix"];
        assert_eq!(nearest("sevrers", known), Some("servers"));
        assert_eq!(nearest("prefx", known), Some("prefix"));
        assert_eq!(nearest("tokens", known), Some("token"));
    }

    #[test]
    fn a_word_unlike_all_gets_no_guess() {
        assert_eq!(nearest("colour", ["servers", "token"]), None);
    }
}
