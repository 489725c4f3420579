use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// One read takes this much at most. It is the size that stage two asks for
/// its pipes: a full one is emptied in a single call.
pub(crate) const READ_BYTES: usize = 256 * 1024;

/// How a read went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pumped {
    Some,
    /// Nothing is there now.
    Dry,
    /// Nothing will come any more.
    Ended,
}

/// A pipe that the job writes to, read up to whole characters.
///
/// The beginning of a character is held back until the rest of it comes, so
/// that bytes of another pipe, going to the same place, never land inside it.
/// Bytes that are no UTF-8 pass as they are.
pub(crate) struct Stream {
    pipe: OwnedFd,
    held: Vec<u8>,
}

impl Stream {
    pub(crate) const fn new(pipe: OwnedFd) -> Self {
        Self { pipe, held: Vec::new() }
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Reads once, and leaves in `into` what may go on.
    pub(crate) fn pump(&mut self, into: &mut Vec<u8>) -> Pumped {
        into.clear();
        into.append(&mut self.held);
        into.reserve(READ_BYTES);
        match rustix::io::read(&self.pipe, spare_capacity(into)) {
            Ok(0) => Pumped::Ended,
            Ok(_) => {
                self.held = into.split_off(into.len() - unfinished(into));
                Pumped::Some
            }
            Err(Errno::AGAIN | Errno::INTR) => {
                self.held.append(into);
                Pumped::Dry
            }
            Err(_) => Pumped::Ended,
        }
    }
}

/// How many bytes at the end begin a character without finishing it.
fn unfinished(bytes: &[u8]) -> usize {
    // The longest character has four bytes, so three can be unfinished.
    for len in 1..=bytes.len().min(3) {
        let tail = &bytes[bytes.len() - len..];
        if tail[0] & 0b1100_0000 == 0b1000_0000 {
            continue; // not the first byte of a character
        }
        return match std::str::from_utf8(tail) {
            Err(err) if err.error_len().is_none() => len,
            Ok(_) | Err(_) => 0,
        };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_beginning_of_a_character_is_held_back() {
        for (bytes, held) in [
            (&b"abc"[..], 0),
            (b"", 0),
            ("aé".as_bytes(), 0),
            (b"a\xc3", 1),
            (b"a\xe2\x82", 2),
            (b"a\xf0\x9f\x98", 3),
            ("a😀".as_bytes(), 0),
            // None of these can become a character.
            (b"a\xff", 0),
            (b"a\xc3\xc3\x28", 0),
            (b"\x80\x80\x80\x80", 0),
            (b"\xed\xa0", 0),
            (b"\xe2\x82\xac\x82", 0),
        ] {
            assert_eq!(unfinished(bytes), held, "{bytes:x?}");
        }
    }

    #[test]
    fn a_character_cut_by_a_read_comes_whole_and_the_last_bytes_come_too() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        let mut stream = Stream::new(reader);
        let mut got = Vec::new();
        rustix::io::write(&writer, b"x\xe2\x82").unwrap();
        assert_eq!(stream.pump(&mut got), Pumped::Some);
        assert_eq!(got, b"x");
        rustix::io::write(&writer, b"\xacy\xc3").unwrap();
        assert_eq!(stream.pump(&mut got), Pumped::Some);
        assert_eq!(got, "€y".as_bytes());
        drop(writer);
        assert_eq!(stream.pump(&mut got), Pumped::Ended);
        assert_eq!(got, b"\xc3");
    }
}
