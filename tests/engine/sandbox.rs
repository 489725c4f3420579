use ovnode::contract::{Bytes, MilliCores, NodeId, RuntimeClass};
use ovnode::engine::record::{Record, RingSizes};
use ovnode::engine::{
    ContainerId, Docker, Engine, LaunchSpec, SandboxId, Tmpfs, seccomp_strict,
};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

pub(crate) const SOCKET: &str = "/var/run/docker.sock";
pub(crate) const IMAGE: &str = "ovnode/function:1";
pub(crate) const UID: u32 = 70_001;

pub(crate) fn docker() -> Docker {
    Docker::connect(Path::new(SOCKET))
}

/// A node of this test's own, so that tests do not see each other's.
pub(crate) fn node() -> NodeId {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    NodeId::try_from(format!("test-{}-{n}", std::process::id())).unwrap()
}

/// The real PID 1.
pub(crate) fn init() -> PathBuf {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("target/init/ovnode-init");
    assert!(
        path.exists(),
        "`{}` is missing: `make test` builds it first",
        path.display()
    );
    path
}

/// A script in the place of PID 1: `/bin/sh` of the image runs it.
pub(crate) fn script(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("init.sh");
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap();
    path
}

/// A sandbox that was made; removed when the test is over, however it ends.
pub(crate) struct Sandbox {
    _folder: TempDir,
    pub(crate) record: Record,
    pub(crate) spec: LaunchSpec,
}

impl Sandbox {
    /// A sandbox whose PID 1 is this script.
    pub(crate) async fn running_script(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let init = script(folder.path(), text);
        Self::with_init(folder, init).await
    }

    pub(crate) async fn with_init(folder: TempDir, init: PathBuf) -> Self {
        let image = docker().image(IMAGE).await.unwrap();
        let image = image.unwrap_or_else(|| {
            panic!("`{IMAGE}` is missing: `workers/build` makes it")
        });
        Self::of_image(folder, init, image.id)
    }

    pub(crate) fn of_image(
        folder: TempDir,
        init: PathBuf,
        image: String,
    ) -> Self {
        let node = node();
        let sandbox = SandboxId(format!("sb_{node}"));
        let rings = RingSizes { stdout: Bytes::mib(1), stderr: None };
        let record = Record::create(folder.path(), &sandbox, UID, rings);
        let record = record.unwrap();
        let tmpfs = |inside: &str, exec| Tmpfs {
            inside: inside.to_owned(),
            size: Bytes::mib(8),
            inodes: 1024,
            exec,
        };
        let spec = LaunchSpec {
            sandbox,
            node,
            class: RuntimeClass::Function,
            image,
            init,
            record: record.path().to_path_buf(),
            binds: Vec::new(),
            tmpfs: vec![tmpfs("/job", true), tmpfs("/tmp", false)],
            uid: UID,
            memory: Bytes::mib(128),
            shm: Bytes::mib(4),
            cpu: MilliCores(1000),
            pids: 64,
            seccomp: seccomp_strict().to_owned(),
        };
        Self { _folder: folder, record, spec }
    }

    pub(crate) async fn started(&self, engine: &impl Engine) -> ContainerId {
        let id = engine.create(&self.spec).await.unwrap();
        engine.start(&id).await.unwrap();
        id
    }

    /// Its exit code, started and waited for.
    pub(crate) async fn ended(&self, engine: &impl Engine) -> i64 {
        let id = self.started(engine).await;
        let code = within(engine.wait(&id)).await.unwrap();
        engine.remove(&id).await.unwrap();
        code
    }

    /// What its script wrote into the record.
    pub(crate) fn said(&self, name: &str) -> String {
        let path = self.record.path().join(name);
        std::fs::read_to_string(path).unwrap_or_default()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let container = self.spec.sandbox.container();
        let removed = std::process::Command::new("docker")
            .args(["rm", "-f", "-v", &container])
            .output();
        drop(removed); // a test that ended well has removed it already
    }
}

/// Nothing here takes long; a hang must fail the test that hangs.
pub(crate) async fn within<T>(answer: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(120);
    tokio::time::timeout(limit, answer).await.expect("an answer in time")
}
