use super::check::Check;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// A program header of this type names an interpreter.
const PT_INTERP: u32 = 3;

/// PID 1 of every sandbox: there, executable, and static, since no image is
/// asked to hold the loader of a dynamic one.
pub(super) fn look(path: &Path) -> Check {
    let executable = fs::metadata(path)
        .is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0);
    judge(path, fs::read(path), executable)
}

fn judge(path: &Path, read: io::Result<Vec<u8>>, executable: bool) -> Check {
    let (name, shown) = ("init", path.display());
    let rebuilt = "make init";
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(why) if why.kind() == ErrorKind::NotFound => {
            let text =
                format!("`{shown}` is not there (`engine.init` says where)");
            return Check::fault(name, text).fix(rebuilt);
        }
        Err(why) => {
            return Check::fault(name, format!("`{shown}`: {why}"));
        }
    };
    match interpreter(&bytes) {
        Some(false) if executable => {
            Check::ok(name, format!("`{shown}` is static"))
        }
        Some(false) => {
            Check::fault(name, format!("`{shown}` is not executable"))
                .fix(format!("chmod 0755 {shown}"))
        }
        Some(true) => {
            let text = format!(
                "`{shown}` is linked dynamically and would not start in \
                 every image"
            );
            Check::fault(name, text).fix(rebuilt)
        }
        None => {
            let text = format!("`{shown}` is no 64-bit ELF program");
            Check::fault(name, text).fix(rebuilt)
        }
    }
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
    use crate::cli::doctor::check::Outcome;

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

    fn outcome(bytes: Vec<u8>) -> Outcome {
        judge(Path::new("/init"), Ok(bytes), true).outcome
    }

    #[test]
    fn only_a_static_program_passes() {
        assert_eq!(outcome(elf(&[1, 6])), Outcome::Ok);
        assert_eq!(outcome(elf(&[6, PT_INTERP, 1])), Outcome::Fault);
        assert_eq!(outcome(b"#!/bin/sh".to_vec()), Outcome::Fault);
    }

    #[test]
    fn a_file_cut_short_is_no_program() {
        let whole = elf(&[1, 6]);
        assert_eq!(outcome(whole[..100].to_vec()), Outcome::Fault);
        assert_eq!(outcome(whole[..40].to_vec()), Outcome::Fault);
    }

    #[test]
    fn this_test_itself_is_a_dynamic_program() {
        let own = fs::read("/proc/self/exe").unwrap();
        assert_eq!(interpreter(&own), Some(true));
    }
}
