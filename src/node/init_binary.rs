//! The program that is PID 1 of every sandbox: static, since no image is
//! asked to hold the loader of a dynamic one.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A program header of this type names an interpreter.
const PT_INTERP: u32 = 3;

/// Why a file cannot be PID 1 of a sandbox.
#[derive(Debug, thiserror::Error)]
pub enum InitFault {
    /// It cannot be read.
    #[error("cannot read `{path}` (`engine.init` says where it lies)")]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It needs a loader.
    #[error(
        "`{path}` is linked dynamically and would not start in every image"
    )]
    Dynamic {
        /// Which file.
        path: PathBuf,
    },
    /// It is something else.
    #[error("`{path}` is no 64-bit ELF program")]
    NoProgram {
        /// Which file.
        path: PathBuf,
    },
    /// It may not be executed.
    #[error("`{path}` is not executable")]
    NotExecutable {
        /// Which file.
        path: PathBuf,
    },
}

/// Whether the file can be PID 1 of a sandbox.
///
/// # Errors
/// Says why not.
pub fn check_init(path: &Path) -> Result<(), InitFault> {
    let owned = || path.to_path_buf();
    let unread = |source| InitFault::Read { path: owned(), source };
    let bytes = fs::read(path).map_err(unread)?;
    match interpreter(&bytes) {
        None => return Err(InitFault::NoProgram { path: owned() }),
        Some(true) => return Err(InitFault::Dynamic { path: owned() }),
        Some(false) => {}
    }
    let mode = fs::metadata(path).map_err(unread)?.permissions().mode();
    if mode & 0o111 == 0 {
        return Err(InitFault::NotExecutable { path: owned() });
    }
    Ok(())
}

/// Whether a little-endian 64-bit ELF file wants an interpreter; `None` for
/// anything else.
fn interpreter(elf: &[u8]) -> Option<bool> {
    if !elf.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let bytes = |at: usize, n: usize| elf.get(at..at.checked_add(n)?);
    let short = |at| Some(u16::from_le_bytes(bytes(at, 2)?.try_into().ok()?));
    let long = |at| Some(u64::from_le_bytes(bytes(at, 8)?.try_into().ok()?));
    let table = usize::try_from(long(32)?).ok()?;
    let (size, count) = (usize::from(short(54)?), short(56)?);
    let mut wants = false;
    for header in 0..usize::from(count) {
        let at = table.checked_add(header.checked_mul(size)?)?;
        let kind = u32::from_le_bytes(bytes(at, 4)?.try_into().ok()?);
        wants |= kind == PT_INTERP;
    }
    Some(wants)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF header and program headers of these types.
    fn elf(kinds: &[u32]) -> Vec<u8> {
        let mut elf = vec![0; 64];
        elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
        elf[32] = 64;
        elf[54] = 56;
        elf[56] = u8::try_from(kinds.len()).unwrap();
        for kind in kinds {
            elf.extend_from_slice(&kind.to_le_bytes());
            elf.extend_from_slice(&[0; 52]);
        }
        elf
    }

    #[test]
    fn only_a_static_program_passes() {
        assert_eq!(interpreter(&elf(&[1, 6])), Some(false));
        assert_eq!(interpreter(&elf(&[6, PT_INTERP, 1])), Some(true));
        assert_eq!(interpreter(b"#!/bin/sh"), None);
    }

    #[test]
    fn a_file_cut_short_is_no_program() {
        let whole = elf(&[1, 6]);
        assert_eq!(interpreter(&whole[..100]), None);
        assert_eq!(interpreter(&whole[..40]), None);
    }

    #[test]
    fn this_test_itself_is_a_dynamic_program() {
        let own = Path::new("/proc/self/exe");
        let fault = check_init(own).unwrap_err();
        assert!(matches!(fault, InitFault::Dynamic { .. }), "{fault}");
    }

    #[test]
    fn a_program_that_may_not_be_executed_is_told_so() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("init");
        assert!(matches!(check_init(&path), Err(InitFault::Read { .. })));
        fs::write(&path, elf(&[1])).unwrap();
        let fault = check_init(&path).unwrap_err();
        assert!(matches!(fault, InitFault::NotExecutable { .. }), "{fault}");
    }
}
