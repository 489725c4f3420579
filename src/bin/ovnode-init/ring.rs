use crate::fault::Fault;
use ovnode::init::ring::{
    HEADER_BYTES, MARKS_AT, RingHeader, RingMarks, spans,
};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A stream's bytes in a ring file that the daemon prepared.
pub(crate) struct Ring {
    file: File,
    capacity: u64,
    end: u64,
}

impl Ring {
    /// Opens a prepared ring. It is never made here: its size, and that its
    /// blocks are there, is the daemon's to see to.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::options().read(true).write(true).open(path)?;
        let mut head = [0; HEADER_BYTES];
        file.read_exact_at(&mut head, 0)?;
        let header = RingHeader::decode(&head).map_err(io::Error::other)?;
        let (capacity, end) = (header.capacity(), header.marks().end);
        Ok(Self { file, capacity, end })
    }

    /// The absolute offset of the end.
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    /// Puts bytes after the end, over the oldest where there is no room.
    ///
    /// A ring that cannot be written ends PID 1, and the sandbox with it: no
    /// output is lost without a word.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let lap = usize::try_from(self.capacity).unwrap_or(usize::MAX);
        for part in bytes.chunks(lap) {
            self.put(part).map_err(Fault::record("write output"))?;
        }
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let end = self.end.saturating_add(len);
        if end > self.capacity {
            // Something is overwritten: a reader has to know before.
            self.mark(self.end, end)?;
        }
        for (at, part) in spans(self.capacity, self.end, bytes.len()) {
            self.file.write_all_at(&bytes[part], at)?;
        }
        self.mark(end, end)?;
        self.end = end;
        Ok(())
    }

    fn mark(&self, end: u64, claimed: u64) -> io::Result<()> {
        let marks = RingMarks { end, claimed }.encode();
        self.file.write_all_at(&marks, MARKS_AT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(capacity: u64) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        let header = RingHeader::fresh(capacity).unwrap();
        file.as_file().set_len(header.file_bytes()).unwrap();
        file.as_file().write_all_at(&header.encode(), 0).unwrap();
        file
    }

    #[test]
    fn a_ring_holds_the_last_lap_and_says_how_far_it_is() {
        let file = prepared(8);
        let mut ring = Ring::open(file.path()).unwrap();
        ring.append(b"abcde").unwrap();
        ring.append(b"fghijklmnopqrstu").unwrap();
        assert_eq!(ring.end(), 21);
        let bytes = std::fs::read(file.path()).unwrap();
        let header = RingHeader::decode(&bytes).unwrap();
        assert_eq!(header.marks(), RingMarks { end: 21, claimed: 21 });
        assert_eq!(&bytes[4096..], b"qrstunop");
    }

    #[test]
    fn a_file_that_is_no_ring_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(Ring::open(file.path()).is_err());
        std::fs::write(file.path(), [7; 8192]).unwrap();
        assert!(Ring::open(file.path()).is_err());
    }
}
