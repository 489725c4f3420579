use super::durable::{host, open};
use crate::engine::EngineError;
use crate::init::ring::{HEADER_BYTES, RingHeader, spans};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Reads kept output, while it is written or after.
#[derive(Debug)]
pub struct RingReader {
    path: PathBuf,
    /// Opened by the first read.
    file: Option<File>,
}

/// What a read found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingRead {
    /// The offset of the first of `bytes`: later than what was asked for if
    /// the bytes between were overwritten.
    pub start: u64,
    /// What lies there.
    pub bytes: Vec<u8>,
    /// Where the output ends for now.
    pub end: u64,
}

impl RingReader {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, file: None }
    }

    /// At most `max` bytes from the absolute offset `from` on. These are
    /// pages that PID 1 wrote a moment ago: the read does not wait for a
    /// disk.
    ///
    /// # Errors
    ///
    /// [`EngineError::Corrupt`] if there is no ring, or something else.
    pub fn read(
        &mut self,
        from: u64,
        max: usize,
    ) -> Result<RingRead, EngineError> {
        let header = self.header()?;
        let end = header.marks().end;
        // Whoever asks past the end asks for what is not there yet.
        let start = from.max(header.oldest()).min(end);
        let there = usize::try_from(end - start).unwrap_or(usize::MAX);
        let mut bytes = vec![0; there.min(max)];
        for (at, part) in spans(header.capacity(), start, bytes.len()) {
            self.read_at(&mut bytes[part], at)?;
        }
        // The writer may have lapped us meanwhile.
        let lost = self.header()?.oldest().saturating_sub(start);
        let lost = usize::try_from(lost).unwrap_or(usize::MAX).min(bytes.len());
        bytes.drain(..lost);
        let start = start.saturating_add(u64::try_from(lost).unwrap_or(0));
        Ok(RingRead { start, bytes, end })
    }

    fn header(&mut self) -> Result<RingHeader, EngineError> {
        let mut head = [0; HEADER_BYTES];
        self.read_at(&mut head, 0)?;
        RingHeader::decode(&head)
            .map_err(|fault| self.corrupt(Some(Box::new(fault))))
    }

    fn read_at(&mut self, into: &mut [u8], at: u64) -> Result<(), EngineError> {
        if self.file.is_none() {
            self.file = open(&self.path)?;
        }
        let Some(file) = &self.file else { return Err(self.corrupt(None)) };
        file.read_exact_at(into, at)
            .map_err(|source| host("read", &self.path, source))
    }

    fn corrupt(
        &self,
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    ) -> EngineError {
        let path = self.path.clone();
        EngineError::Corrupt { path, wanted: "a ring of output", source }
    }
}
