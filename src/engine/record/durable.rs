use crate::engine::EngineError;
use serde::de::DeserializeOwned;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A record's documents are a few hundred bytes; one of this size is not ours.
const MOST_JSON: u64 = 64 * 1024;

pub(super) fn host(
    doing: &'static str,
    path: &Path,
    source: impl Into<io::Error>,
) -> EngineError {
    let source = source.into();
    EngineError::Host { doing, path: path.to_path_buf(), source }
}

/// A file of root's alone, which was not there before.
pub(super) fn create(path: &Path) -> Result<File, EngineError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(|source| host("make", path, source))
}

/// A file of a record, to read. A link is never followed: none is made here.
pub(super) fn open(path: &Path) -> Result<Option<File>, EngineError> {
    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits();
    let flags = i32::try_from(no_follow).unwrap_or_default();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(gone) if gone.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(host("open", path, source)),
    }
}

/// Writes `bytes` to `path`. After a crash the file is not there, or whole.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
    let aside = path.with_extension("new");
    remove(&aside)?;
    let mut file = create(&aside)?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&aside, path))
        .map_err(|source| host("write", path, source))?;
    sync_folder(path.parent().unwrap_or(Path::new("/")))
}

/// Makes the names in a folder durable.
pub(super) fn sync_folder(folder: &Path) -> Result<(), EngineError> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|source| host("sync", folder, source))
}

/// Removes a file; fine if it is not there.
pub(super) fn remove(path: &Path) -> Result<(), EngineError> {
    match std::fs::remove_file(path) {
        Err(fault) if fault.kind() != io::ErrorKind::NotFound => {
            Err(host("remove", path, fault))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// At most `most` bytes of a file; `None` if it is not there.
pub(super) fn read(
    path: &Path,
    most: u64,
) -> Result<Option<Vec<u8>>, EngineError> {
    let Some(file) = open(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.take(most)
        .read_to_end(&mut bytes)
        .map_err(|source| host("read", path, source))?;
    Ok(Some(bytes))
}

/// A document; `None` if it is not there, an error if it is another.
pub(super) fn read_json<T: DeserializeOwned>(
    path: &Path,
    wanted: &'static str,
) -> Result<Option<T>, EngineError> {
    let Some(bytes) = read(path, MOST_JSON)? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|fault| {
        let path = path.to_path_buf();
        EngineError::Corrupt { path, wanted, source: Some(Box::new(fault)) }
    })
}
