//! From the first word of a command to a file that can be executed, as the
//! job's own user sees it; or to words that say why not.
use crate::format::{self, Foreign, HEAD_BYTES};
use rustix::fs::{Access, access};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Finds the file that `name` stands for: itself where it holds a slash, else
/// the first of that name in `path` that may be executed.
pub(crate) fn find(name: &str, path: Option<&str>) -> Result<PathBuf, String> {
    if name.is_empty() {
        return Err("the program has no name".to_owned());
    }
    if name.contains('/') {
        let file = PathBuf::from(name);
        return executable(&file).map(|()| file);
    }
    let path = path.ok_or("there is no PATH to look for a program in")?;
    let mut why = format!("program `{name}` is not in PATH ({path})");
    for dir in path.split(':').filter(|dir| !dir.is_empty()) {
        let file = Path::new(dir).join(name);
        match executable(&file) {
            Ok(()) => return Ok(file),
            // A file that is there but cannot be run says more than none.
            Err(reason) if file.exists() => why = reason,
            Err(_) => {}
        }
    }
    Err(why)
}

/// Why the kernel did not execute a file that was found.
pub(crate) fn explain(file: &Path, err: &io::Error) -> String {
    if err.kind() == ErrorKind::NotFound && file.exists() {
        let file = file.display();
        return format!("the interpreter of `{file}` is not there");
    }
    format!("cannot execute `{}`: {err}", file.display())
}

fn executable(file: &Path) -> Result<(), String> {
    let shown = file.display();
    let meta = file.metadata().map_err(|err| {
        if err.kind() == ErrorKind::NotFound {
            format!("program `{shown}` is not there")
        } else {
            format!("cannot look at `{shown}`: {err}")
        }
    })?;
    if !meta.is_file() {
        return Err(format!("`{shown}` is not a file"));
    }
    if access(file, Access::EXEC_OK).is_err() {
        return Err(format!("`{shown}` is not executable for the job's user"));
    }
    // One that may be executed but not read is left to the kernel to judge.
    let Ok(theirs) = head(file) else { return Ok(()) };
    let ours = head(Path::new("/proc/self/exe"))
        .map_err(|err| format!("cannot look at its own program: {err}"))?;
    format::judge(&theirs, &ours).map_err(|foreign| match foreign {
        Foreign::Architecture => {
            format!("`{shown}` is a program for another architecture")
        }
        Foreign::Format => {
            format!("`{shown}` is neither a program nor a script with `#!`")
        }
    })
}

fn head(file: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    let most = u64::try_from(HEAD_BYTES).unwrap_or(u64::MAX);
    File::open(file)?.take(most).read_to_end(&mut head)?;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn put(dir: &Path, name: &str, text: &[u8], mode: u32) -> PathBuf {
        let file = dir.join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn the_first_that_can_be_executed_is_found() {
        let (one, two) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = format!("{}:{}", one.path().display(), two.path().display());
        put(one.path(), "tool", b"#!/bin/sh\n", 0o644);
        let good = put(two.path(), "tool", b"#!/bin/sh\n", 0o755);
        assert_eq!(find("tool", Some(&path)), Ok(good.clone()));
        let exact = good.to_str().unwrap();
        assert_eq!(find(exact, None), Ok(good.clone()));
    }

    #[test]
    fn what_cannot_be_executed_is_refused_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_str().unwrap();
        put(dir.path(), "data", b"#!/bin/sh\n", 0o644);
        put(dir.path(), "text", b"hello\n", 0o755);
        let mut arm = vec![0; 64];
        arm[..6].copy_from_slice(b"\x7fELF\x02\x01");
        arm[18] = 183;
        put(dir.path(), "arm", &arm, 0o755);
        fs::create_dir(dir.path().join("dir")).unwrap();
        for (name, reason) in [
            ("none", "is not in PATH"),
            ("data", "is not executable"),
            ("text", "neither a program nor a script"),
            ("arm", "another architecture"),
            ("dir", "is not a file"),
            ("", "no name"),
        ] {
            let said = find(name, Some(path)).unwrap_err();
            assert!(said.contains(reason), "{said}");
        }
        let said = find("/nowhere/at/all", Some(path)).unwrap_err();
        assert!(said.contains("is not there"), "{said}");
    }
}
