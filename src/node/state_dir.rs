//! The directory that is one daemon's alone.

use super::daemon::DaemonError;
use rustix::fs::{FlockOperation, flock};
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

/// Held while the daemon lives; the kernel lets it go with the process,
/// however that ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Makes the directory where it is missing, and takes it.
pub(crate) fn take(dir: &Path) -> Result<Lock, DaemonError> {
    let state = |source| DaemonError::State { path: dir.to_path_buf(), source };
    let file = open(dir).map_err(state)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Lock { _file: file }),
        Err(rustix::io::Errno::WOULDBLOCK) => {
            Err(DaemonError::Another { path: dir.to_path_buf() })
        }
        Err(errno) => Err(state(errno.into())),
    }
}

fn open(dir: &Path) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    // Records of jobs lie in it: nobody else may so much as list them.
    std::fs::set_permissions(dir, Permissions::from_mode(0o700))?;
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(dir.join("lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_directory_is_one_daemons_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state");
        let held = take(&path).unwrap();
        let second = take(&path).unwrap_err();
        assert!(matches!(second, DaemonError::Another { .. }), "{second}");
        drop(held);
        take(&path).unwrap();
    }
}
