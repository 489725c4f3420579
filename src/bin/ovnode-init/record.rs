//! The durable facts. Each is on disk, name and all, before anything that
//! follows from it happens.
use crate::fault::Fault;
use ovnode::init::{Begun, ExitRecord, names};
use rustix::fs::{FallocateFlags, fallocate};
use serde_json::to_vec;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Room kept for the exit record: a disk that fills up while the job runs
/// must not keep its end from being written. One block holds the longest.
const EXIT_ROOM: u64 = 4096;

pub(crate) struct Record {
    path: PathBuf,
    dir: File,
}

impl Record {
    /// Opens the record, unless the job was begun here before.
    pub(crate) fn open(path: &Path) -> Result<Self, Fault> {
        let dir = File::open(path).map_err(Fault::record("look"))?;
        if path.join(names::BEGUN).exists() {
            return Err(Fault::BegunBefore);
        }
        Ok(Self { path: path.to_path_buf(), dir })
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Claims the job for this process, once and for all.
    pub(crate) fn begin(&self, begun: &Begun) -> Result<(), Fault> {
        let write = || {
            let mut file = File::create_new(self.file(names::BEGUN))?;
            file.write_all(&to_vec(begun)?)?;
            file.sync_all()?;
            self.dir.sync_all()
        };
        write().map_err(|err| {
            if err.kind() == ErrorKind::AlreadyExists {
                Fault::BegunBefore
            } else {
                Fault::Record("write `begun`", err)
            }
        })?;
        self.reserve();
        Ok(())
    }

    /// Writes what the job left on fd 3. Whether it could be written does not
    /// change how the job ended: the exit record says how long it must be.
    pub(crate) fn result(&self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.put(names::RESULT, bytes).ok();
        }
    }

    /// Writes the exit record; with it, the result's name becomes durable.
    pub(crate) fn exit(&self, record: &ExitRecord) -> Result<(), Fault> {
        let write = || {
            self.put(names::EXIT, &to_vec(record)?)?;
            self.dir.sync_all()
        };
        write().map_err(Fault::record("write the exit"))
    }

    fn reserve(&self) {
        // Where the filesystem cannot reserve, it is as if we had not tried.
        if let Ok(file) = File::create(self.aside(names::EXIT)) {
            let keep = FallocateFlags::KEEP_SIZE;
            fallocate(&file, keep, 0, EXIT_ROOM).ok();
        }
    }

    fn aside(&self, name: &str) -> PathBuf {
        self.file(&format!("{name}.new"))
    }

    /// Aside, synced, renamed: a reader finds all of it or nothing.
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let aside = self.aside(name);
        // Not truncated: that would give the reserved room away.
        let mut options = File::options();
        let mut file =
            options.write(true).create(true).truncate(false).open(&aside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&aside, self.file(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_begun_once() {
        let dir = tempfile::tempdir().unwrap();
        let record = Record::open(dir.path()).unwrap();
        let begun = Begun { mono_ms: 1, boot_ms: 2 };
        record.begin(&begun).unwrap();
        assert!(matches!(record.begin(&begun), Err(Fault::BegunBefore)));
        let again = Record::open(dir.path());
        assert!(matches!(again, Err(Fault::BegunBefore)));
        let text = fs::read(dir.path().join(names::BEGUN)).unwrap();
        assert_eq!(serde_json::from_slice::<Begun>(&text).unwrap(), begun);
    }

    #[test]
    fn a_result_is_there_whole_and_an_empty_one_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let record = Record::open(dir.path()).unwrap();
        record.result(b"");
        assert!(!record.file(names::RESULT).exists());
        record.result(b"{}");
        assert_eq!(fs::read(record.file(names::RESULT)).unwrap(), b"{}");
        assert!(!record.aside(names::RESULT).exists());
    }
}
