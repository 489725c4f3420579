//! What a sandbox takes of an image besides its layers: an allow-list of its
//! environment, and cover for the volumes that it declares.
use super::{EngineError, ImageFacts, Tmpfs};
use crate::contract::Bytes;
use crate::init::names;
use std::collections::BTreeMap;

/// Names that only say where the image keeps its programs and in which
/// language they speak.
const NAMES: [&str; 5] = ["PATH", "LANG", "LANGUAGE", "TZ", "LD_LIBRARY_PATH"];
/// As `LC_ALL`.
const PREFIXES: [&str; 1] = ["LC_"];
/// As `JAVA_HOME` and `PYTHON_VERSION`.
const SUFFIXES: [&str; 2] = ["_HOME", "_VERSION"];
/// What a job learns from us, and what an NVIDIA runtime takes for orders.
const NEVER: [&str; 3] = ["OV_", "OPENVIBE_", "NVIDIA_"];
/// A search path of a hundred entries; more is somebody's data.
const LONGEST: usize = 4096;

/// What a job may keep of its image's environment. An engine cannot be told
/// to leave an image's variables out: PID 1 has them all, and hands the job
/// only what its orders say, into which these may go first. Everything not
/// on the list stays behind: an image's proxies, tokens and preloads are not
/// for the programs of others.
pub fn allowed_env(image: &ImageFacts) -> BTreeMap<String, String> {
    let pairs = image.env.iter().filter_map(|line| line.split_once('='));
    pairs
        .filter(|(name, value)| is_allowed(name) && value.len() <= LONGEST)
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn is_allowed(name: &str) -> bool {
    let plain = name
        .bytes()
        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let listed = NAMES.contains(&name)
        || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        || SUFFIXES.iter().any(|suffix| name.ends_with(suffix));
    let never = NEVER.iter().any(|prefix| name.starts_with(prefix));
    plain && listed && !never
}

/// Beyond these an image is not one that anyone made for a sandbox.
const MOST_VOLUMES: usize = 8;
/// Room for a lock file, not for data: what a job needs is in `/job`.
const COVER: Bytes = Bytes::kib(64);
/// The directory itself and a few files.
const COVER_INODES: u64 = 16;

/// Small filesystems in memory over the volumes that an image declares, so
/// that the engine makes none on its disk. Their sizes count as memory.
///
/// # Errors
///
/// [`EngineError::NotAsAsked`] for an image whose volumes lie where a sandbox
/// has something of its own, or that has too many: it is refused.
pub fn covers(image: &ImageFacts) -> Result<Vec<Tmpfs>, EngineError> {
    if image.volumes.len() > MOST_VOLUMES {
        let n = image.volumes.len();
        return Err(EngineError::NotAsAsked(format!(
            "its image declares {n} volumes, and {MOST_VOLUMES} are covered \
             at most"
        )));
    }
    let mut volumes = image.volumes.clone();
    volumes.sort();
    volumes.into_iter().filter(|at| !is_ours(at)).map(cover).collect()
}

/// `/job` and `/tmp` are such filesystems in every sandbox.
fn is_ours(path: &str) -> bool {
    matches!(path.trim_end_matches('/'), "/job" | "/tmp")
}

fn cover(inside: String) -> Result<Tmpfs, EngineError> {
    const OWN: [&str; 9] = [
        "/job",
        "/tmp",
        "/dev",
        "/proc",
        "/sys",
        "/etc",
        "/artifact",
        names::MOUNT,
        names::INIT,
    ];
    let path = inside.trim_end_matches('/');
    let meets = |own: &&str| {
        let below = |a: &str, b: &str| a.starts_with(&format!("{b}/"));
        path == *own || below(path, own) || below(own, path)
    };
    let plain = path.starts_with('/')
        && !path.contains("//")
        && !path.split('/').any(|part| part == "." || part == "..");
    if plain && !OWN.iter().any(meets) {
        let inside = path.to_owned();
        let (size, inodes) = (COVER, COVER_INODES);
        Ok(Tmpfs { inside, size, inodes, exec: false })
    } else {
        Err(EngineError::NotAsAsked(format!(
            "its image declares the volume `{inside}`, where a sandbox has \
             something of its own"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(env: &[&str], volumes: &[&str]) -> ImageFacts {
        let owned = |texts: &[&str]| {
            texts.iter().map(|text| (*text).to_owned()).collect()
        };
        ImageFacts {
            id: "sha256:0".to_owned(),
            volumes: owned(volumes),
            env: owned(env),
            architecture: "amd64".to_owned(),
            created_ms: None,
            size_bytes: 0,
        }
    }

    #[test]
    fn of_an_images_environment_only_ways_and_language_are_kept() {
        let kept = allowed_env(&image(
            &[
                "PATH=/opt/bin:/bin",
                "JAVA_HOME=/opt/java",
                "LC_ALL=C.UTF-8",
                "HOME=/root",
                "LD_PRELOAD=/x.so",
                "http_proxy=http://x",
                "TOKEN=secret",
                "NVIDIA_VISIBLE_DEVICES=all",
                "OV_HOME=/x",
                "broken",
            ],
            &[],
        ));
        let names: Vec<_> = kept.keys().map(String::as_str).collect();
        assert_eq!(names, ["JAVA_HOME", "LC_ALL", "PATH"]);
    }

    #[test]
    fn a_declared_volume_is_covered_by_a_little_memory() {
        let covers = covers(&image(&[], &["/var/data/", "/tmp", "/data"]));
        let covers = covers.unwrap();
        let paths: Vec<_> =
            covers.iter().map(|cover| cover.inside.as_str()).collect();
        assert_eq!(paths, ["/data", "/var/data"]);
        assert!(covers.iter().all(|cover| !cover.exec));
    }

    #[test]
    fn an_image_whose_volume_hides_something_of_ours_is_refused() {
        for volume in ["/", "/run", "/run/ovnode/x", "/etc", "/job/x", "x"] {
            assert!(covers(&image(&[], &[volume])).is_err(), "{volume}");
        }
        let many: Vec<_> = (0..9).map(|n| format!("/v{n}")).collect();
        let many: Vec<_> = many.iter().map(String::as_str).collect();
        assert!(covers(&image(&[], &many)).is_err());
    }
}
