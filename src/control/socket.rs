use rustix::fs::{Gid, Mode, Uid};
use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::{UnixListener, UnixStream};

/// Members of it may use the socket.
const GROUP: &str = "ovnode";

/// Why the local socket cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Someone answers there, or holds the lock.
    #[error(
        "another ovnode runs: it answers at `{path}`; stop it first, or give \
         this one another socket"
    )]
    Another {
        /// The socket.
        path: PathBuf,
    },
    /// Something that is not ours to replace.
    #[error("`{path}` is not a socket; move it away")]
    NotASocket {
        /// The file.
        path: PathBuf,
    },
    /// The system said no.
    #[error("cannot {doing} `{path}`")]
    Io {
        /// Such as "bind".
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The socket file, ours until it is dropped.
pub(super) struct Bound {
    pub(super) listener: UnixListener,
    path: PathBuf,
    // Held so that two daemons that start at once cannot both find nobody
    // there. The file stays: one that is unlinked while another waits for
    // it would be locked twice.
    _lock: File,
}

impl Drop for Bound {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            let path = self.path.display();
            tracing::debug!(%path, %error, "control socket is not removed");
        }
    }
}

/// The folder of the socket, where nobody made it yet: under systemd the unit
/// does. Others may pass through it to the socket, which has rights of its
/// own.
fn make_folder(path: &Path) -> Result<(), SocketError> {
    let Some(folder) = path.parent() else { return Ok(()) };
    let made = DirBuilder::new().recursive(true).mode(0o755).create(folder);
    made.map_err(failed("make", folder))
}

/// Binds the socket at `path`: 0660, of the group `ovnode` where there is
/// one. A file that a dead daemon left is replaced, a live one never.
pub(super) async fn bind(path: &Path) -> Result<Bound, SocketError> {
    make_folder(path)?;
    let lock = lock(path)?;
    if is_taken(path).await? {
        return Err(SocketError::Another { path: path.to_owned() });
    }
    // Under another name until mode and group are right: nobody can connect
    // in between, and the rename replaces what a dead daemon left.
    let aside = with_suffix(path, ".new");
    match std::fs::remove_file(&aside) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            return Err(failed("remove", &aside)(e));
        }
        Ok(()) | Err(_) => {}
    }
    let listener =
        UnixListener::bind(&aside).map_err(failed("bind", &aside))?;
    admit_group(&aside)?;
    std::fs::rename(&aside, path).map_err(failed("put in place", path))?;
    Ok(Bound { listener, path: path.to_owned(), _lock: lock })
}

fn lock(path: &Path) -> Result<File, SocketError> {
    let beside = with_suffix(path, ".lock");
    let lock = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&beside)
        .map_err(failed("open", &beside))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => {
            Err(SocketError::Another { path: path.to_owned() })
        }
        Err(TryLockError::Error(e)) => Err(failed("lock", &beside)(e)),
    }
}

/// Whether someone answers at `path`.
async fn is_taken(path: &Path) -> Result<bool, SocketError> {
    match std::fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(failed("look at", path)(e)),
        Ok(meta) if !meta.file_type().is_socket() => {
            return Err(SocketError::NotASocket { path: path.to_owned() });
        }
        Ok(_) => {}
    }
    // A connection is taken by the kernel or refused at once; a second is
    // for a machine that is out of breath.
    let tried =
        tokio::time::timeout(Duration::from_secs(1), UnixStream::connect(path));
    match tried.await {
        Ok(Err(e)) if e.kind() == io::ErrorKind::ConnectionRefused => Ok(false),
        Ok(Err(e)) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        // A full queue of connections is somebody's too.
        Ok(Ok(_) | Err(_)) | Err(_) => Ok(true),
    }
}

fn admit_group(path: &Path) -> Result<(), SocketError> {
    let denied =
        |e: rustix::io::Errno| failed("give rights to", path)(e.into());
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP;
    rustix::fs::chmod(path, mode).map_err(denied)?;
    let groups = std::fs::read_to_string("/etc/group").unwrap_or_default();
    let Some(group) = gid_of(GROUP, &groups) else { return Ok(()) };
    let owner: Option<Uid> = None;
    rustix::fs::chown(path, owner, Some(Gid::from_raw(group))).map_err(denied)
}

/// The group's number in the text of a group file.
fn gid_of(group: &str, text: &str) -> Option<u32> {
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let named = fields.next() == Some(group);
        let number = fields.nth(1)?.parse().ok()?;
        named.then_some(number)
    })
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn failed(
    doing: &'static str,
    path: &Path,
) -> impl FnOnce(io::Error) -> SocketError {
    let path = path.to_owned();
    move |source| SocketError::Io { doing, path, source }
}

#[cfg(test)]
mod tests {
    use super::gid_of;

    #[test]
    fn a_group_is_found_by_its_whole_name() {
        let text = "root:x:0:\novnode2:x:7:\novnode:x:998:anna,ben\n";
        assert_eq!(gid_of("ovnode", text), Some(998));
    }

    #[test]
    fn a_group_file_with_broken_lines_is_no_obstacle() {
        let text = "\n:::\n+\nnis:x:many:\novnode:x:12:\n";
        assert_eq!(gid_of("ovnode", text), Some(12));
        assert_eq!(gid_of("ovnode", "ovnode:x"), None);
    }
}
