/// `text` as one line that a terminal can only show: control characters
/// and those that turn the direction of writing stand as escapes, and
/// without UTF-8 everything beyond ASCII does.
pub(super) fn line(text: &str, utf8: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        push(&mut shown, letter, utf8);
    }
    shown
}

/// `text` as one line for standard error, where letters beyond ASCII are
/// shown as they are: what it is for is not asked.
pub(in crate::cli) fn one_line(text: &str) -> String {
    line(text, true)
}

fn push(shown: &mut String, letter: char, utf8: bool) {
    let harmless = !letter.is_control() && !turns(letter);
    if harmless && (utf8 || letter.is_ascii()) {
        shown.push(letter);
    } else {
        shown.extend(letter.escape_default());
    }
}

/// Marks that make what follows read in another order than it stands.
fn turns(letter: char) -> bool {
    matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{2066}'..='\u{2069}')
}

/// Makes a job's output safe to show, piece by piece: line breaks and tabs
/// stay, other control bytes and what is not UTF-8 stand as escapes.
#[derive(Debug, Default)]
pub(in crate::cli) struct Escaper {
    /// The begun letter at the end of the last piece, 3 bytes at most.
    begun: Vec<u8>,
    utf8: bool,
}

impl Escaper {
    pub(in crate::cli) fn new(utf8: bool) -> Self {
        Self { begun: Vec::new(), utf8 }
    }

    /// What can be shown of the output up to the end of `piece`.
    pub(in crate::cli) fn show(&mut self, piece: &[u8]) -> String {
        let mut bytes = std::mem::take(&mut self.begun);
        bytes.extend_from_slice(piece);
        let mut shown = String::with_capacity(bytes.len());
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            for letter in chunk.valid().chars() {
                match letter {
                    '\n' | '\t' => shown.push(letter),
                    other => push(&mut shown, other, self.utf8),
                }
            }
            let bad = chunk.invalid();
            if chunks.peek().is_none() && is_begun(bad) {
                self.begun = bad.to_vec();
            } else {
                push_bytes(&mut shown, bad);
            }
        }
        shown
    }

    /// What is left at the end.
    pub(in crate::cli) fn finish(self) -> String {
        let mut shown = String::new();
        push_bytes(&mut shown, &self.begun);
        shown
    }
}

fn push_bytes(shown: &mut String, bytes: &[u8]) {
    for byte in bytes {
        shown.push_str(&format!("\\x{byte:02x}"));
    }
}

/// Whether more bytes could still make a letter of these.
fn is_begun(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && std::str::from_utf8(bytes)
            .is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(utf8: bool, pieces: &[&[u8]]) -> String {
        let mut escaper = Escaper::new(utf8);
        let mut all: String =
            pieces.iter().map(|piece| escaper.show(piece)).collect();
        all.push_str(&escaper.finish());
        all
    }

    #[test]
    fn lines_tabs_and_letters_are_shown_as_they_are() {
        assert_eq!(
            shown(true, &[b"a\tb\n", "grün 木\n".as_bytes()]),
            "a\tb\ngrün 木\n"
        );
    }

    #[test]
    fn what_moves_the_cursor_or_turns_the_line_is_escaped() {
        let nasty = "\x1b[2Jx\r\x07\u{9b}\u{202e}".as_bytes();
        assert_eq!(
            shown(true, &[nasty]),
            "\\u{1b}[2Jx\\r\\u{7}\\u{9b}\\u{202e}"
        );
    }

    #[test]
    fn a_letter_cut_between_two_pieces_is_one_letter() {
        let tree = "木".as_bytes();
        assert_eq!(shown(true, &[&tree[..1], &tree[1..2], &tree[2..]]), "木");
    }

    #[test]
    fn bytes_that_are_no_letter_are_shown_as_bytes() {
        assert_eq!(shown(true, &[b"a\xffb", b"\xe6"]), "a\\xffb\\xe6");
        assert_eq!(shown(true, &[b"\xe6", b"a"]), "\\xe6a");
    }

    #[test]
    fn without_utf8_only_ascii_is_shown() {
        assert_eq!(shown(false, &["ü".as_bytes()]), "\\u{fc}");
        assert_eq!(line("木\n", false), "\\u{6728}\\n");
    }
}
