use super::durable::{create, host, open, read, read_json, remove, write};
use super::line::{Line, listen};
use super::ring::RingReader;
use crate::contract::Bytes;
use crate::engine::{EngineError, SandboxId, identity};
use crate::init::ring::RingHeader;
use crate::init::{Begun, ExitRecord, Identity, names};
use rustix::fs::FallocateFlags;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::UnixListener;
use tokio::time::timeout;

/// How much output is kept of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingSizes {
    /// Of stdout; with the job's own cap nothing is ever lost.
    pub stdout: Bytes,
    /// Of stderr, where that is the owner's.
    pub stderr: Option<Bytes>,
}

/// One sandbox's record, and the socket that its PID 1 connects to.
#[derive(Debug)]
pub struct Record {
    path: PathBuf,
    listener: UnixListener,
}

impl Record {
    /// Makes the record of a sandbox whose job will be `uid`. Its rings take
    /// their room on disk now, so that a full disk refuses a job rather than
    /// losing its output. Needs a Tokio runtime, for the socket.
    ///
    /// # Errors
    ///
    /// [`EngineError::Host`], with nothing left behind.
    pub fn create(
        root: &Path,
        sandbox: &SandboxId,
        uid: u32,
        rings: RingSizes,
    ) -> Result<Self, EngineError> {
        let path = place(root, sandbox)?;
        make_folder(&path)?;
        fill(&path, uid, rings)
            .and_then(|()| listen(&path))
            .map(|listener| Self { path: path.clone(), listener })
            .inspect_err(|_| remove_folder(&path).unwrap_or_default())
    }

    /// The record that an earlier daemon made; `None` if there is none. PID 1
    /// finds the new socket under the old name.
    ///
    /// # Errors
    ///
    /// [`EngineError::Host`] if it is there and cannot be used.
    pub fn open(
        root: &Path,
        sandbox: &SandboxId,
    ) -> Result<Option<Self>, EngineError> {
        let path = place(root, sandbox)?;
        if !path.is_dir() {
            return Ok(None);
        }
        remove(&path.join(names::SOCKET))?;
        let listener = listen(&path)?;
        Ok(Some(Self { path, listener }))
    }

    /// The sandboxes that have a record here.
    ///
    /// # Errors
    ///
    /// [`EngineError::Host`] if `root` cannot be read; absent is empty.
    pub fn list(root: &Path) -> Result<Vec<SandboxId>, EngineError> {
        let entries = match std::fs::read_dir(root) {
            Ok(entries) => entries,
            Err(gone) if gone.kind() == io::ErrorKind::NotFound => {
                return Ok(Vec::new());
            }
            Err(source) => return Err(host("list", root, source)),
        };
        let folders = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let names = folders.map(|entry| entry.file_name().into_string());
        let mut found: Vec<_> =
            names.filter_map(Result::ok).map(SandboxId).collect();
        found.sort();
        Ok(found)
    }

    /// Where it lies on the host.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes whose record it is, durably: before any byte of the job is
    /// handed over, so that what is found after a crash can be told apart.
    ///
    /// # Errors
    ///
    /// [`EngineError::Host`]: the job must not be handed over.
    pub fn identify(&self, whose: &Identity) -> Result<(), EngineError> {
        let path = self.path.join(names::IDENTITY);
        let text = serde_json::to_vec(whose)
            .map_err(|fault| host("write", &path, fault))?;
        write(&path, &text)
    }

    /// Whose record it is; `None` if it was never handed a job.
    ///
    /// # Errors
    ///
    /// [`EngineError::Corrupt`] if the file is another.
    pub fn identity(&self) -> Result<Option<Identity>, EngineError> {
        read_json(&self.path.join(names::IDENTITY), "a job's identity")
    }

    /// Waits for PID 1 to connect. Drop-safe: nobody is lost between calls.
    ///
    /// # Errors
    ///
    /// [`EngineError::InitAway`] when nobody came within `deadline`.
    pub async fn accept(
        &self,
        deadline: Duration,
    ) -> Result<Line, EngineError> {
        let doing = "waiting for it to connect";
        match timeout(deadline, self.listener.accept()).await {
            Ok(Ok((stream, _))) => Ok(Line::new(stream)),
            Ok(Err(source)) => {
                Err(EngineError::InitAway { doing, source: Some(source) })
            }
            Err(_late) => Err(EngineError::InitAway { doing, source: None }),
        }
    }

    /// Whether its job was begun: it must never be run again then. A file
    /// that is there but not whole says so as well.
    ///
    /// # Errors
    ///
    /// [`EngineError::Host`] if that cannot be told.
    pub fn begun(&self) -> Result<bool, EngineError> {
        Ok(open(&self.path.join(names::BEGUN))?.is_some())
    }

    /// When its job was begun; `None` if it was not, or that was lost.
    pub fn begun_at(&self) -> Option<Begun> {
        read_json(&self.path.join(names::BEGUN), "a beginning").ok().flatten()
    }

    /// How its job ended; `None` while it runs, or if PID 1 died first.
    ///
    /// # Errors
    ///
    /// [`EngineError::Corrupt`] if the file is another.
    pub fn exit(&self) -> Result<Option<ExitRecord>, EngineError> {
        read_json(&self.path.join(names::EXIT), "an exit record")
    }

    /// What the job wrote to fd 3, at most `cap` bytes of it; empty if
    /// nothing. The exit record says how much it was.
    ///
    /// # Errors
    ///
    /// [`EngineError::Host`] if it cannot be read.
    pub fn result(&self, cap: Bytes) -> Result<Vec<u8>, EngineError> {
        let found = read(&self.path.join(names::RESULT), cap.0)?;
        Ok(found.unwrap_or_default())
    }

    /// The kept stdout.
    pub fn stdout(&self) -> RingReader {
        RingReader::new(self.path.join(names::STDOUT))
    }

    /// The kept stderr, where that is the owner's.
    pub fn stderr(&self) -> RingReader {
        RingReader::new(self.path.join(names::STDERR))
    }

    /// Removes it, kept output included.
    ///
    /// # Errors
    ///
    /// [`EngineError::Host`] if something of it stays.
    pub fn remove(self) -> Result<(), EngineError> {
        remove_folder(&self.path)
    }
}

/// A name that climbs out of `root` is nobody's record.
fn place(root: &Path, sandbox: &SandboxId) -> Result<PathBuf, EngineError> {
    let path = root.join(&sandbox.0);
    if sandbox.is_plain() {
        Ok(path)
    } else {
        let strange = io::Error::from(io::ErrorKind::InvalidFilename);
        Err(host("use", &path, strange))
    }
}

fn make_folder(path: &Path) -> Result<(), EngineError> {
    let mut folder = std::fs::DirBuilder::new();
    folder.mode(0o700);
    if let Some(root) = path.parent() {
        let made = folder.recursive(true).create(root);
        made.map_err(|source| host("make", root, source))?;
    }
    // Not recursive: one that is there is another sandbox's.
    let made = folder.recursive(false).create(path);
    made.map_err(|source| host("make", path, source))
}

fn remove_folder(path: &Path) -> Result<(), EngineError> {
    match std::fs::remove_dir_all(path) {
        Err(fault) if fault.kind() != io::ErrorKind::NotFound => {
            Err(host("remove", path, fault))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn fill(path: &Path, uid: u32, rings: RingSizes) -> Result<(), EngineError> {
    make_ring(&path.join(names::STDOUT), rings.stdout)?;
    if let Some(size) = rings.stderr {
        make_ring(&path.join(names::STDERR), size)?;
    }
    for (name, text) in [
        (identity::PASSWD, identity::passwd(uid)),
        (identity::GROUP, identity::group(uid)),
    ] {
        let path = path.join(name);
        let mut file = create(&path)?;
        // The job reads these through their own binds, so they are not
        // root's alone; the folder above them is.
        file.write_all(text.as_bytes())
            .and_then(|()| {
                let readable =
                    std::os::unix::fs::PermissionsExt::from_mode(0o644);
                file.set_permissions(readable)
            })
            .map_err(|source| host("write", &path, source))?;
    }
    Ok(())
}

fn make_ring(path: &Path, size: Bytes) -> Result<(), EngineError> {
    let header =
        RingHeader::fresh(size.0).map_err(|fault| EngineError::Corrupt {
            path: path.to_path_buf(),
            wanted: "a ring with room",
            source: Some(Box::new(fault)),
        })?;
    let mut file = create(path)?;
    let all = header.file_bytes();
    rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, all)
        .map_err(|fault| host("take room for", path, fault))?;
    file.write_all(&header.encode())
        .map_err(|source| host("write", path, source))
}
