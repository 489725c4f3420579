use super::quantity::GLUE;
use super::{Style, escape};

/// What a piece of text means, and so how it looks where colour is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    /// No more than it says.
    Plain,
    /// A heading or a name to find one's way by.
    Strong,
    /// Well.
    Good,
    /// Not as it should be.
    Doubtful,
    /// Not well.
    Bad,
    /// Of less weight.
    Faint,
}

impl Tone {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Strong => Some("1"),
            Self::Good => Some("32"),
            Self::Doubtful => Some("33"),
            Self::Bad => Some("31"),
            Self::Faint => Some("2"),
        }
    }
}

/// Labelled rows, each wrapped to the width under itself.
pub(super) struct Page {
    style: Style,
    label: usize,
    text: String,
}

impl Page {
    /// An empty page whose labels are at most `label` columns wide; with 0
    /// it has none.
    pub(super) fn new(style: Style, label: usize) -> Self {
        let label = if label == 0 { 0 } else { label + 1 };
        Self { style, label, text: String::new() }
    }

    /// The style, for what depends on it.
    pub(super) fn style(&self) -> Style {
        self.style
    }

    /// Columns beside the labels.
    pub(super) fn room(&self) -> usize {
        // Below 8 columns not even a word would fit.
        self.style.width.saturating_sub(self.label).max(8)
    }

    /// An empty line between two parts.
    pub(super) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// A row of words under a label; without one it belongs to the last.
    pub(super) fn row(&mut self, label: &str, parts: &[(Tone, &str)]) {
        let words = self.words(parts);
        let lines = wrap(words, self.room());
        for (at, line) in lines.into_iter().enumerate() {
            self.label(if at == 0 { label } else { "" });
            if at > 0 {
                self.text.extend(std::iter::repeat_n(' ', HANG));
            }
            self.line(&line);
            self.text.push('\n');
        }
    }

    /// The page, without spaces at the ends of lines.
    pub(super) fn finish(self) -> String {
        self.text
            .replace(GLUE, " ")
            .lines()
            .flat_map(|line| [line.trim_end(), "\n"])
            .collect()
    }

    fn label(&mut self, label: &str) {
        let pad = self.label.saturating_sub(label.chars().count());
        if !label.is_empty() {
            self.painted(Tone::Strong, label);
        }
        self.text.extend(std::iter::repeat_n(' ', pad));
    }

    fn words(&self, parts: &[(Tone, &str)]) -> Vec<(Tone, String)> {
        parts
            .iter()
            .flat_map(|(tone, text)| {
                text.split([' ', '\n'])
                    .filter(|word| !word.is_empty())
                    .map(|word| (*tone, self.safe(word)))
            })
            .collect()
    }

    fn safe(&self, word: &str) -> String {
        // The glue is ours, and no letter to escape.
        let parts = word.split(GLUE);
        let parts: Vec<_> =
            parts.map(|part| escape::line(part, self.style.utf8)).collect();
        parts.join("\u{a0}")
    }

    fn line(&mut self, words: &[(Tone, String)]) {
        for (at, same) in words.chunk_by(|a, b| a.0 == b.0).enumerate() {
            if at > 0 {
                self.text.push(' ');
            }
            let text: Vec<_> =
                same.iter().map(|(_, word)| word.as_str()).collect();
            let tone = same.first().map_or(Tone::Plain, |(tone, _)| *tone);
            self.painted(tone, &text.join(" "));
        }
    }

    fn painted(&mut self, tone: Tone, text: &str) {
        match tone.code().filter(|_| self.style.color) {
            None => self.text.push_str(text),
            Some(code) => {
                let painted = format!("\x1b[{code}m{text}\x1b[0m");
                self.text.push_str(&painted);
            }
        }
    }
}

/// How far a row's further lines stand in, to be told from the next row.
const HANG: usize = 2;

/// Words into lines of at most `room` columns, the further ones less by
/// their hang; a longer word is cut.
fn wrap(words: Vec<(Tone, String)>, room: usize) -> Vec<Vec<(Tone, String)>> {
    let mut lines = vec![Vec::new()];
    let mut used = 0;
    for (tone, word) in words {
        // Only the very first word has the whole room to itself.
        let first = if used == 0 { room } else { room - HANG };
        for piece in cut(&word, first, room - HANG) {
            let long = piece.chars().count();
            let room = if lines.len() > 1 { room - HANG } else { room };
            if used > 0 && used + 1 + long > room {
                lines.push(Vec::new());
                used = 0;
            }
            used += long + usize::from(used > 0);
            if let Some(line) = lines.last_mut() {
                line.push((tone, piece));
            }
        }
    }
    lines
}

fn cut(word: &str, first: usize, further: usize) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let (head, tail) = letters.split_at(first.min(letters.len()));
    let pieces = std::iter::once(head).chain(tail.chunks(further));
    pieces.map(|piece| piece.iter().collect()).collect()
}

/// A bar of `cells`, full to `share`.
pub(super) fn bar(share: f64, cells: u32, utf8: bool) -> String {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let full = (0..cells)
        .filter(|cell| (f64::from(*cell) + 0.5) / f64::from(cells) < share);
    let full = full.count();
    let (on, off) = if utf8 { ("█", "░") } else { ("#", ".") };
    let rest = usize::try_from(cells).unwrap_or_default() - full;
    format!("{}{}", on.repeat(full), off.repeat(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NARROW: Style = Style { width: 24, color: false, utf8: true };

    #[test]
    fn long_rows_go_on_under_themselves_and_long_words_are_cut() {
        let mut page = Page::new(NARROW, 6);
        page.row("one", &[(Tone::Plain, "aa bb cc dd ee ff gg")]);
        page.row("two", &[(Tone::Plain, "012345678901234567890123401234")]);
        assert_eq!(
            page.finish(),
            "one    aa bb cc dd ee ff\n\
             \x20        gg\n\
             two    01234567890123456\n\
             \x20        7890123401234\n"
        );
    }

    #[test]
    fn glued_words_stay_together() {
        let mut page = Page::new(NARROW, 6);
        page.row("", &[(Tone::Plain, "since 12345678 3\u{a0}h")]);
        assert_eq!(page.finish(), "       since 12345678\n         3 h\n");
    }

    #[test]
    fn colour_is_around_words_and_never_from_others() {
        let style = Style { color: true, ..NARROW };
        let mut page = Page::new(style, 1);
        page.row("a", &[(Tone::Bad, "x\x1b[0my z")]);
        assert_eq!(
            page.finish(),
            "\x1b[1ma\x1b[0m \x1b[31mx\\u{1b}[0my z\x1b[0m\n"
        );
    }

    #[test]
    fn a_bar_is_full_only_as_far_as_its_share() {
        let bars =
            [0.0, 0.5, 1.0, 9.0, f64::NAN].map(|share| bar(share, 4, false));
        assert_eq!(bars, ["....", "##..", "####", "####", "...."]);
        assert_eq!(bar(0.35, 5, true), "██░░░");
    }
}
