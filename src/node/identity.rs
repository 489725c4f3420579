use crate::contract::{BadId, JobId, NodeId, Timestamp};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use ulid::Ulid;

/// Why the node does not know who it is.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The kept id cannot be read.
    #[error("cannot read the node's id from `{path}`")]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The id cannot be kept.
    #[error("cannot keep the node's id in `{path}`")]
    Keep {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something else lies there: a new id in its place would orphan every
    /// job and offer of the old one, so that is the owner's to decide.
    #[error(
        "`{path}` holds no node id: write the node's id back into it, or \
         remove it to become a new node"
    )]
    Corrupt {
        /// Which file.
        path: PathBuf,
    },
    /// The configuration says another id than the kept one.
    #[error(
        "node.id is `{given}`, but this node is `{kept}` (`{path}`): a \
         node's id is for life; to become another node, give it a state \
         directory of its own"
    )]
    Differs {
        /// From the configuration.
        given: NodeId,
        /// From the state directory.
        kept: NodeId,
        /// Which file.
        path: PathBuf,
    },
}

/// The node's id: kept in `state_dir`, else `given`, else made; durable
/// before it is returned, so that it never changes once it was used.
///
/// # Errors
/// When it cannot be read or kept, or `given` is another than the kept one.
pub fn node_id(
    state_dir: &Path,
    given: Option<&NodeId>,
    now: Timestamp,
) -> Result<NodeId, IdentityError> {
    let path = state_dir.join("node-id");
    let kept = match load(&path)? {
        Some(kept) => kept,
        None => {
            let id = given.cloned().map_or_else(|| made(now, &path), Ok)?;
            keep(state_dir, &path, &id)
                .map_err(|source| keeping(&path, source))?;
            // Whoever was first, if two began at once.
            load(&path)?.ok_or_else(|| {
                keeping(&path, io::Error::from(ErrorKind::NotFound))
            })?
        }
    };
    match given {
        Some(given) if *given != kept => {
            Err(IdentityError::Differs { given: given.clone(), kept, path })
        }
        _ => Ok(kept),
    }
}

fn keeping(path: &Path, source: io::Error) -> IdentityError {
    IdentityError::Keep { path: path.to_path_buf(), source }
}

fn made(now: Timestamp, path: &Path) -> Result<NodeId, IdentityError> {
    let id = format!("node_{}", ulid_at(now));
    NodeId::try_from(id).map_err(|bad| keeping(path, io::Error::other(bad)))
}

/// A job's id, made at `now`: what a dispatcher mints as it sends.
///
/// # Errors
/// Never for a clock of this age of the world.
pub fn new_job_id(now: Timestamp) -> Result<JobId, BadId> {
    JobId::try_from(format!("job_{}", ulid_at(now)))
}

/// A ULID of this moment, as text.
pub(crate) fn ulid_at(now: Timestamp) -> String {
    Ulid::from_parts(now.0, Ulid::generate().random()).to_string()
}

fn load(path: &Path) -> Result<Option<NodeId>, IdentityError> {
    match fs::read_to_string(path) {
        Ok(text) => match NodeId::try_from(text.trim().to_owned()) {
            Ok(id) => Ok(Some(id)),
            Err(_) => Err(IdentityError::Corrupt { path: path.to_path_buf() }),
        },
        Err(why) if why.kind() == ErrorKind::NotFound => Ok(None),
        Err(why) if why.kind() == ErrorKind::InvalidData => {
            Err(IdentityError::Corrupt { path: path.to_path_buf() })
        }
        Err(source) => {
            Err(IdentityError::Read { path: path.to_path_buf(), source })
        }
    }
}

/// A crash between any two of these leaves no id or the whole one; the link
/// is what another that began at the same moment cannot make twice.
fn keep(dir: &Path, path: &Path, id: &NodeId) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let aside = dir.join(format!("node-id.{}", std::process::id()));
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&aside)?;
    writeln!(file, "{id}")?;
    file.sync_all()?;
    let linked = fs::hard_link(&aside, path);
    fs::remove_file(&aside)?;
    match linked {
        Err(why) if why.kind() != ErrorKind::AlreadyExists => Err(why),
        _ => File::open(dir)?.sync_all(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_764_000_000_000);

    fn id(text: &str) -> NodeId {
        NodeId::try_from(text.to_owned()).unwrap()
    }

    #[test]
    fn an_id_is_made_once_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let first = node_id(&state, None, NOW).unwrap();
        assert!(first.as_str().starts_with("node_01"));
        assert_eq!(first.as_str().len(), "node_".len() + 26);
        assert_eq!(node_id(&state, None, NOW).unwrap(), first);
        let left = fs::read_dir(&state).unwrap().count();
        assert_eq!(left, 1, "nothing but the id is left behind");
    }

    #[test]
    fn a_given_id_is_kept_and_another_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (mine, other) = (id("node_mine"), id("node_other"));
        let kept = node_id(dir.path(), Some(&mine), NOW).unwrap();
        assert_eq!(kept, mine);
        assert_eq!(node_id(dir.path(), None, NOW).unwrap(), mine);
        let differs = node_id(dir.path(), Some(&other), NOW).unwrap_err();
        assert!(matches!(differs, IdentityError::Differs { .. }));
    }

    #[test]
    fn a_damaged_id_is_told_and_never_replaced() {
        let dir = tempfile::tempdir().unwrap();
        for damaged in [&b""[..], b"\0\0\0\0", b"\xff\xfe", b"two words"] {
            fs::write(dir.path().join("node-id"), damaged).unwrap();
            let fault = node_id(dir.path(), None, NOW).unwrap_err();
            assert!(matches!(fault, IdentityError::Corrupt { .. }));
        }
    }
}
