//! The layout of a ring file: where a byte of a stream lies, and what the
//! header says. No I/O: PID 1 writes with it and the daemon reads with it.
//!
//! Bytes have absolute offsets that never wrap; only their places in the file
//! do. A reader learns from the header which offsets still lie there, and
//! must read the header *again* after it read data, since the writer may have
//! lapped it meanwhile.
use std::ops::Range;

/// Where the data area starts; the header has a page of its own, so that
/// updating it never touches a page of data.
pub const DATA_AT: u64 = 4096;
/// Bytes of the header in use.
pub const HEADER_BYTES: usize = 40;
/// Where the two moving numbers of the header lie, one aligned write.
pub const MARKS_AT: u64 = 24;

const MAGIC: [u8; 8] = *b"ovnring\0";
const VERSION: u64 = 1;

/// What the head of a ring file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingHeader {
    capacity: u64,
    marks: RingMarks,
}

/// How far the writer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingMarks {
    /// Every byte before this offset is in the file, unless overwritten.
    pub end: u64,
    /// The writer may be overwriting, right now, whatever shares its place
    /// with an offset below this one. Never below `end`.
    pub claimed: u64,
}

/// Why a file is not a ring.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RingFault {
    /// Shorter than a header.
    #[error("a ring's header has {HEADER_BYTES} bytes, this file {0}")]
    Short(usize),
    /// Something else, or never prepared.
    #[error("the file does not start as a ring does")]
    Magic,
    /// Made by another version of this program.
    #[error("the ring has version {0}, known is {VERSION}")]
    Version(u64),
    /// The numbers contradict each other.
    #[error("the ring's numbers cannot be: {0:?}")]
    Marks(RingMarks),
    /// A ring without room.
    #[error("the ring has no room")]
    Empty,
}

impl RingHeader {
    /// The head of a ring that nothing was written to.
    ///
    /// # Errors
    ///
    /// A ring without room is none.
    pub const fn fresh(capacity: u64) -> Result<Self, RingFault> {
        if capacity == 0 {
            return Err(RingFault::Empty);
        }
        Ok(Self { capacity, marks: RingMarks { end: 0, claimed: 0 } })
    }

    /// How many bytes the data area holds.
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// How far the writer is.
    pub const fn marks(&self) -> RingMarks {
        self.marks
    }

    /// Size of the whole file.
    pub const fn file_bytes(&self) -> u64 {
        DATA_AT.saturating_add(self.capacity)
    }

    /// The lowest offset whose byte is still there and will not change under
    /// a reader that saw this header after its read.
    pub const fn oldest(&self) -> u64 {
        self.marks.claimed.saturating_sub(self.capacity)
    }

    /// As it lies in the file.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..16].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.capacity.to_le_bytes());
        bytes[24..].copy_from_slice(&self.marks.encode());
        bytes
    }

    /// Reads the head of a file.
    ///
    /// # Errors
    ///
    /// Says why the file is not a ring that this version can use.
    pub fn decode(bytes: &[u8]) -> Result<Self, RingFault> {
        let Some((head, _)) = bytes.split_at_checked(HEADER_BYTES) else {
            return Err(RingFault::Short(bytes.len()));
        };
        if !head.starts_with(&MAGIC) {
            return Err(RingFault::Magic);
        }
        let version = word(head, 8);
        if version != VERSION {
            return Err(RingFault::Version(version));
        }
        let mut header = Self::fresh(word(head, 16))?;
        let marks = RingMarks { end: word(head, 24), claimed: word(head, 32) };
        if marks.claimed < marks.end {
            return Err(RingFault::Marks(marks));
        }
        header.marks = marks;
        Ok(header)
    }
}

impl RingMarks {
    /// As they lie at [`MARKS_AT`].
    pub fn encode(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.end.to_le_bytes());
        bytes[8..].copy_from_slice(&self.claimed.to_le_bytes());
        bytes
    }
}

/// Where `len` bytes from the absolute offset `from` lie: the ranges of the
/// stretch itself, each with its place in the file. A stretch longer than the
/// ring would lie over itself, so only its first lap is given.
pub fn spans(capacity: u64, from: u64, len: usize) -> Vec<(u64, Range<usize>)> {
    let mut spans = Vec::with_capacity(2);
    let len = len.min(usize::try_from(capacity).unwrap_or(usize::MAX));
    let mut done = 0;
    while done < len {
        let offset = from.saturating_add(u64::try_from(done).unwrap_or(0));
        let place = offset % capacity;
        let room = usize::try_from(capacity - place).unwrap_or(usize::MAX);
        let upto = len.min(done.saturating_add(room));
        spans.push((DATA_AT + place, done..upto));
        done = upto;
    }
    spans
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    /// A file and the two ends of it, with the arithmetic under test.
    struct Paper {
        file: Vec<u8>,
        header: RingHeader,
    }

    impl Paper {
        fn new(capacity: u64) -> Self {
            let header = RingHeader::fresh(capacity).unwrap();
            let size = usize::try_from(header.file_bytes()).unwrap();
            Self { file: vec![0; size], header }
        }

        fn write(&mut self, bytes: &[u8]) {
            let capacity = self.header.capacity;
            let marks = &mut self.header.marks;
            marks.claimed = marks.end + bytes.len() as u64;
            for (at, part) in spans(capacity, marks.end, bytes.len()) {
                let at = usize::try_from(at).unwrap();
                self.file[at..at + part.len()].copy_from_slice(&bytes[part]);
            }
            marks.end = marks.claimed;
        }

        fn read(&self, from: u64) -> (u64, Vec<u8>) {
            let start = from.max(self.header.oldest());
            let len = usize::try_from(self.header.marks.end - start).unwrap();
            let mut out = vec![0; len];
            for (at, part) in spans(self.header.capacity, start, len) {
                let at = usize::try_from(at).unwrap();
                let len = part.len();
                out[part].copy_from_slice(&self.file[at..at + len]);
            }
            (start, out)
        }
    }

    #[test]
    fn a_header_lies_in_the_file_as_agreed() {
        let mut header = RingHeader::fresh(0x0102).unwrap();
        header.marks = RingMarks { end: 3, claimed: 0x0405 };
        let mut golden = b"ovnring\0\x01\0\0\0\0\0\0\0".to_vec();
        golden.extend_from_slice(b"\x02\x01\0\0\0\0\0\0");
        golden.extend_from_slice(b"\x03\0\0\0\0\0\0\0\x05\x04\0\0\0\0\0\0");
        assert_eq!(header.encode().as_slice(), golden);
        assert_eq!(RingHeader::decode(&golden), Ok(header));
    }

    #[test]
    fn what_is_not_a_ring_is_told_apart() {
        let good = RingHeader::fresh(10).unwrap().encode();
        assert_eq!(RingHeader::decode(&good[..39]), Err(RingFault::Short(39)));
        assert_eq!(RingHeader::decode(&[0; 64]), Err(RingFault::Magic));
        let with = |at: usize, value: u8| {
            let mut bytes = good;
            bytes[at] = value;
            RingHeader::decode(&bytes)
        };
        assert_eq!(with(8, 2), Err(RingFault::Version(2)));
        assert_eq!(with(16, 0), Err(RingFault::Empty));
        let marks = RingMarks { end: 1, claimed: 0 };
        assert_eq!(with(24, 1), Err(RingFault::Marks(marks)));
    }

    #[test]
    fn a_stretch_over_the_edge_lies_in_two_places() {
        assert_eq!(spans(10, 28, 5), [(DATA_AT + 8, 0..2), (DATA_AT, 2..5)]);
        assert_eq!(spans(10, 20, 10), [(DATA_AT, 0..10)]);
        assert_eq!(spans(10, 3, 0), []);
        assert_eq!(spans(10, 0, 99), [(DATA_AT, 0..10)]);
    }

    #[test]
    fn a_lapped_reader_is_told_what_it_lost() {
        let mut paper = Paper::new(8);
        paper.write(b"abcdef");
        assert_eq!(paper.read(2), (2, b"cdef".to_vec()));
        paper.write(b"ghijkl");
        assert_eq!(paper.read(2), (4, b"efghijkl".to_vec()));
    }

    #[test]
    fn what_is_being_overwritten_counts_as_lost() {
        let mut header = RingHeader::fresh(8).unwrap();
        header.marks = RingMarks { end: 12, claimed: 15 };
        assert_eq!(header.oldest(), 7);
    }

    proptest! {
        #[test]
        fn a_ring_gives_back_the_last_lap(
            capacity in 1_u64..40,
            writes in proptest::collection::vec(
                proptest::collection::vec(any::<u8>(), 0..40), 0..20),
            from in 0_u64..400,
        ) {
            let mut paper = Paper::new(capacity);
            let mut all = Vec::new();
            for write in &writes {
                for part in write.chunks(usize::try_from(capacity).unwrap()) {
                    paper.write(part);
                }
                all.extend_from_slice(write);
            }
            let from = from.min(all.len() as u64);
            let (start, bytes) = paper.read(from);
            prop_assert!(start >= from);
            prop_assert!(start == from || all.len() as u64 - start == capacity);
            prop_assert_eq!(&bytes, &all[usize::try_from(start).unwrap()..]);
        }
    }
}
