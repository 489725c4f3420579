//! A driver made for a test: `tests/nvml/stub.c`, compiled once, copied
//! beside a script of its own for each.
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs, process};
use tempfile::TempDir;

/// NVML's own numbers.
pub(super) const NOT_SUPPORTED: u32 = 3;
pub(super) const NO_PERMISSION: u32 = 4;
pub(super) const DRIVER_NOT_LOADED: u32 = 9;
pub(super) const GPU_LOST: u32 = 15;

/// One driver and the fake root of its machine.
pub(super) struct Stub {
    dir: TempDir,
}

impl Stub {
    /// A driver that says what `script` says.
    pub(super) fn new(script: &str) -> Self {
        Self::from(library(&[]), script)
    }

    /// One from before memory could be asked for by version.
    pub(super) fn old(script: &str) -> Self {
        Self::from(library(&["-DOLD_DRIVER"]), script)
    }

    fn from(library: &Path, script: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let stub = Self { dir };
        fs::copy(library, stub.library()).unwrap();
        stub.says(script);
        stub
    }

    /// From now on.
    pub(super) fn says(&self, script: &str) {
        let path = self.dir.path().join("libnvidia-ml.so.1.script");
        let aside = self.dir.path().join("script.new");
        fs::write(&aside, script).unwrap();
        fs::rename(aside, path).unwrap();
    }

    pub(super) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn library(&self) -> PathBuf {
        self.dir.path().join("libnvidia-ml.so.1")
    }
}

/// Device files of `cards` cards.
pub(super) fn devices(root: &Path, cards: u32) {
    let dev = root.join("dev");
    fs::create_dir_all(&dev).unwrap();
    fs::write(dev.join("nvidiactl"), "").unwrap();
    for card in 0..cards {
        fs::write(dev.join(format!("nvidia{card}")), "").unwrap();
    }
}

/// The library, built once a process and kind.
fn library(flags: &[&str]) -> &'static Path {
    static NEW: OnceLock<PathBuf> = OnceLock::new();
    static OLD: OnceLock<PathBuf> = OnceLock::new();
    let kept = if flags.is_empty() { &NEW } else { &OLD };
    kept.get_or_init(|| build(flags))
}

fn build(flags: &[&str]) -> PathBuf {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nvml/stub.c");
    // Beside the test's own binary, which is in `target`.
    let target = env::current_exe().unwrap();
    let kind = if flags.is_empty() { "new" } else { "old" };
    let out = target.with_file_name(format!("nvml-stub-{kind}.so"));
    let aside = out.with_extension(process::id().to_string());
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&aside).arg(source);
    let done = cc.args(flags).arg("-ldl").status().unwrap();
    assert!(done.success(), "cc could not build {source}");
    fs::rename(&aside, &out).unwrap();
    out
}
