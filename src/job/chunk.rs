use std::str;

/// Most bytes of text in one `job_stdout`. Control characters grow sixfold
/// in JSON, so a frame stays below 100 KB, far under what a server takes.
pub(crate) const CHUNK_BYTES: usize = 16 << 10;
/// How much is read from the ring at once: with the three bytes that an
/// unfinished sequence can leave over, valid text is one chunk.
pub(crate) const READ_BYTES: usize = CHUNK_BYTES - 3;

/// One piece of a job's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// From 1; numbers skipped are chunks lost.
    pub(crate) seq: u64,
    /// At most [`CHUNK_BYTES`] of valid UTF-8.
    pub(crate) text: String,
}

/// Cuts a stream of bytes into chunks of text, whatever the edges at which
/// it is read: bytes that are not UTF-8 become U+FFFD as in
/// `String::from_utf8_lossy` over the whole stream, and no sequence is split.
#[derive(Debug)]
pub(crate) struct Chunker {
    next_seq: u64,
    /// The unfinished sequence at the end of what was read, 3 bytes at most.
    carry: Vec<u8>,
    lost: u64,
}

impl Chunker {
    pub(crate) fn new() -> Self {
        Self { next_seq: 1, carry: Vec::new(), lost: 0 }
    }

    /// The next bytes of the stream, as chunks.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Chunk> {
        if self.carry.is_empty()
            && let Ok(text) = str::from_utf8(bytes)
        {
            return self.cut(text.to_owned()); // nearly all output there is
        }
        let mut whole = std::mem::take(&mut self.carry);
        whole.extend_from_slice(bytes);
        let text = self.decode(&whole);
        self.cut(text)
    }

    /// `bytes` of the stream are gone: their numbers are skipped, so that a
    /// reader sees the hole.
    pub(crate) fn gap(&mut self, bytes: u64) -> Vec<Chunk> {
        let before = self.finish();
        self.lost = self.lost.saturating_add(bytes);
        let chunk = CHUNK_BYTES as u64;
        self.next_seq += bytes.div_ceil(chunk).max(1);
        before
    }

    /// The stream has ended: an unfinished sequence is not UTF-8 any more.
    pub(crate) fn finish(&mut self) -> Vec<Chunk> {
        if self.carry.is_empty() {
            return Vec::new();
        }
        self.carry.clear();
        self.cut(char::REPLACEMENT_CHARACTER.to_string())
    }

    /// Bytes that were lost so far.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    fn decode(&mut self, whole: &[u8]) -> String {
        let mut text = String::with_capacity(whole.len());
        let mut at = 0;
        for piece in whole.utf8_chunks() {
            let (good, bad) = (piece.valid(), piece.invalid());
            text.push_str(good);
            at += good.len() + bad.len();
            if at == whole.len() && unfinished(bad) {
                self.carry.extend_from_slice(bad);
            } else if !bad.is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        text
    }

    fn cut(&mut self, mut text: String) -> Vec<Chunk> {
        let mut chunks = Vec::with_capacity(1);
        while text.len() > CHUNK_BYTES {
            let rest = text.split_off(text.floor_char_boundary(CHUNK_BYTES));
            chunks.push(self.number(std::mem::replace(&mut text, rest)));
        }
        if !text.is_empty() {
            chunks.push(self.number(text));
        }
        chunks
    }

    fn number(&mut self, text: String) -> Chunk {
        let seq = self.next_seq;
        self.next_seq += 1;
        Chunk { seq, text }
    }
}

/// Whether more bytes could still make a character of these.
fn unfinished(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_err_and(|e| e.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chunks(parts: &[&[u8]]) -> Vec<Chunk> {
        let mut chunker = Chunker::new();
        let mut all: Vec<_> =
            parts.iter().flat_map(|part| chunker.feed(part)).collect();
        all.extend(chunker.finish());
        all
    }

    fn joined(chunks: &[Chunk]) -> String {
        chunks.iter().map(|chunk| chunk.text.as_str()).collect()
    }

    #[test]
    fn a_character_at_an_edge_is_not_split() {
        for text in ["é", "→", "🜚"] {
            for cut in 0..=text.len() {
                let (a, b) = text.as_bytes().split_at(cut);
                assert_eq!(joined(&chunks(&[a, b])), text, "cut at {cut}");
            }
        }
    }

    #[test]
    fn valid_text_of_one_read_is_one_chunk() {
        let text = "→".repeat(READ_BYTES / 3);
        assert_eq!(chunks(&[text.as_bytes()]).len(), 1);
    }

    #[test]
    fn a_lone_first_byte_at_the_very_end_becomes_a_replacement() {
        assert_eq!(joined(&chunks(&[b"done", b"\xc3"])), "done\u{fffd}");
    }

    #[test]
    fn a_random_stream_keeps_every_chunk_small() {
        let all = chunks(&[&[0xff; READ_BYTES]]);
        assert_eq!(all.len(), 3); // each byte became three
        assert!(all.iter().all(|chunk| chunk.text.len() <= CHUNK_BYTES));
    }

    #[test]
    fn lost_bytes_skip_their_numbers_at_least_one() {
        for (lost, skipped) in [(1, 1), (16_384, 1), (16_385, 2), (65_536, 4)] {
            let mut chunker = Chunker::new();
            assert_eq!(chunker.feed(b"a")[0].seq, 1);
            assert_eq!(chunker.gap(lost), vec![]);
            assert_eq!(chunker.feed(b"b")[0].seq, 2 + skipped);
            assert_eq!(chunker.lost(), lost);
        }
    }

    #[test]
    fn an_unfinished_sequence_before_a_gap_is_not_finished_behind_it() {
        let mut chunker = Chunker::new();
        assert_eq!(chunker.feed(b"\xe2\x86"), vec![]);
        let before = chunker.gap(10);
        assert_eq!(before, vec![Chunk { seq: 1, text: "\u{fffd}".into() }]);
        let behind = chunker.feed(b"\x92!");
        assert_eq!(behind, vec![Chunk { seq: 3, text: "\u{fffd}!".into() }]);
    }

    proptest! {
        #[test]
        fn any_stream_cut_anywhere_reads_as_the_whole_would(
            bytes in prop::collection::vec(
                prop_oneof![
                    any::<u8>(), 0x20_u8..0x7f, 0x80_u8..0xc0, 0xe0_u8..0xf5,
                ],
                0..200,
            ),
            cuts in prop::collection::vec(1_usize..7, 0..100),
        ) {
            let mut parts = Vec::new();
            let mut rest = bytes.as_slice();
            for cut in cuts {
                let (part, more) = rest.split_at(cut.min(rest.len()));
                parts.push(part);
                rest = more;
            }
            parts.push(rest);
            let all = chunks(&parts);
            prop_assert_eq!(joined(&all), String::from_utf8_lossy(&bytes));
            let seqs = all.iter().map(|chunk| chunk.seq);
            prop_assert!(seqs.eq(1..=all.len() as u64));
        }

        #[test]
        fn text_of_any_length_is_joined_byte_for_byte(
            shift in 0_usize..4, pick in 0_usize..3, read in 1_usize..20_000,
        ) {
            let unit = ["é", "→", "🜚"][pick];
            let text = "x".repeat(shift) + &unit.repeat(20_000);
            let parts: Vec<_> = text.as_bytes().chunks(read).collect();
            let all = chunks(&parts);
            prop_assert!(all.iter().all(|c| c.text.len() <= CHUNK_BYTES));
            prop_assert_eq!(joined(&all), text);
        }
    }
}
