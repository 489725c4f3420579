use super::CapacityError;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Where `/proc`, `/sys` and `/dev` lie. Tests put a folder of their own
/// there; in life it is `/`.
#[derive(Clone, Debug)]
pub(super) struct Root(PathBuf);

impl Root {
    pub(super) fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// `path` (absolute or not) under this root.
    pub(super) fn at(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.0.join(path.strip_prefix("/").unwrap_or(path))
    }

    pub(super) fn read(
        &self,
        path: impl AsRef<Path>,
    ) -> Result<String, CapacityError> {
        let path = self.at(path);
        fs::read_to_string(&path)
            .map_err(|source| CapacityError::Read { path, source })
    }

    /// The file's text, trimmed; `None` for a file that cannot be read,
    /// which is usual for the knobs of cgroups and devices.
    pub(super) fn word(&self, path: impl AsRef<Path>) -> Option<String> {
        let text = fs::read_to_string(self.at(path)).ok()?;
        Some(text.trim().to_owned())
    }

    pub(super) fn number(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.word(path)?.parse().ok()
    }

    pub(super) fn has(&self, path: impl AsRef<Path>) -> bool {
        self.at(path).exists()
    }

    /// Names in a folder, sorted; none where it is not there.
    pub(super) fn names(
        &self,
        path: impl AsRef<Path>,
    ) -> Result<Vec<String>, CapacityError> {
        let path = self.at(path);
        let mut names = Vec::new();
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(names),
            Err(source) => return Err(CapacityError::Read { path, source }),
        };
        for entry in entries.flatten() {
            names.extend(entry.file_name().into_string());
        }
        names.sort_unstable();
        Ok(names)
    }
}
