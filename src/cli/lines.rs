/// The longest line of a stream of documents: a frame may be 1,000,000
/// bytes, so what is longer is no document.
const LONGEST: usize = 1 << 20;

/// Lines out of pieces that end anywhere.
#[derive(Debug, Default)]
pub(super) struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// The lines that `piece` completes; those that are too long and empty
    /// ones are left out.
    pub(super) fn push(&mut self, piece: &[u8]) -> Vec<Vec<u8>> {
        let mut whole = Vec::new();
        let mut parts = piece.split(|byte| *byte == b'\n');
        let first = parts.next().unwrap_or_default();
        self.take(first);
        for next in parts {
            let line = std::mem::take(&mut self.begun);
            if (1..=LONGEST).contains(&line.len()) {
                whole.push(line);
            }
            self.take(next);
        }
        whole
    }

    /// Keeps one byte more than the longest line, to know it as too long.
    fn take(&mut self, part: &[u8]) {
        let room = (LONGEST + 1).saturating_sub(self.begun.len());
        self.begun.extend_from_slice(&part[..part.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_wherever_the_pieces_end() {
        let mut lines = Lines::default();
        assert!(lines.push(b"ab").is_empty());
        assert_eq!(lines.push(b"c\nd\n\ne"), [b"abc".to_vec(), b"d".to_vec()]);
        assert_eq!(lines.push(b"\n"), [b"e".to_vec()]);
    }

    #[test]
    fn a_line_without_an_end_takes_no_more_memory_than_the_longest() {
        let mut lines = Lines::default();
        for _ in 0..64 {
            assert!(lines.push(&[b'x'; 64 << 10]).is_empty());
        }
        assert_eq!(lines.begun.len(), LONGEST + 1);
        assert_eq!(lines.push(b"\nok\n"), [b"ok".to_vec()]);
    }
}
