//! Whether the kernel can execute a file that starts so. Pure.
//!
//! It is asked beforehand because the C library, where the kernel does not
//! know a format, runs the file through a shell: a program for another
//! machine would start, as nonsense, and end with the shell's own code.

/// Bytes of a file that decide.
pub(crate) const HEAD_BYTES: usize = 20;

/// Why a file cannot be executed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// A program, but for another kind of machine.
    Architecture,
    /// Neither a program nor a script.
    Format,
}

/// Looks at the head of a file, beside that of a program that runs here.
pub(crate) fn judge(head: &[u8], ours: &[u8]) -> Result<(), Foreign> {
    const ELF: &[u8] = b"\x7fELF";
    if head.starts_with(b"#!") {
        return Ok(());
    }
    if !head.starts_with(ELF) {
        return Err(Foreign::Format);
    }
    // Word size and byte order, then the machine.
    let same = |range: std::ops::Range<usize>| {
        head.get(range.clone()).is_some_and(|h| ours.get(range) == Some(h))
    };
    if same(4..6) && same(18..20) { Ok(()) } else { Err(Foreign::Architecture) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elf(class: u8, data: u8, machine: u8) -> [u8; HEAD_BYTES] {
        let mut head = [0; HEAD_BYTES];
        head[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, data]);
        head[18] = machine;
        head
    }

    #[test]
    fn only_what_the_kernel_can_run_passes() {
        let ours = elf(2, 1, 62);
        assert_eq!(judge(&ours, &ours), Ok(()));
        assert_eq!(judge(b"#!/bin/sh\n", &ours), Ok(()));
        for foreign in [elf(2, 1, 183), elf(1, 1, 3), elf(2, 2, 62)] {
            assert_eq!(judge(&foreign, &ours), Err(Foreign::Architecture));
        }
        assert_eq!(judge(b"\x7fELF\x02", &ours), Err(Foreign::Architecture));
        assert_eq!(judge(b"echo hello\n", &ours), Err(Foreign::Format));
        assert_eq!(judge(b"", &ours), Err(Foreign::Format));
    }
}
