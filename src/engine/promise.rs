use super::body::{
    CAPABILITIES, CORE_BYTES, CPU_SHARES, HOSTNAME, NO_GPU, OOM_SCORE_ADJ,
    bound, nano_cpus, tmpfs_options,
};
use super::spec::labels;
use super::{EngineError, Inspection, LaunchSpec};
use crate::init::names;
use sha2::{Digest, Sha256};

/// Paths that no engine leaves open, of the newest list and the oldest.
pub(super) const MASKED: [&str; 5] = [
    "/proc/acpi",
    "/proc/kcore",
    "/proc/keys",
    "/proc/timer_list",
    "/sys/firmware",
];

/// Paths that no engine leaves writable.
pub(super) const READ_ONLY: [&str; 4] =
    ["/proc/bus", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];

impl LaunchSpec {
    /// What an engine must show of a container made of this spec: sorted
    /// `name=value` lines. Written out on its own, not derived from what the
    /// engine is asked, so that neither can forget what the other knows.
    pub fn promises(&self) -> Vec<String> {
        let fixed = FIXED.iter().map(|line| (*line).to_owned());
        let mut lines: Vec<String> = fixed.collect();
        lines.extend(self.sizes());
        lines.extend(self.paths());
        lines.extend([
            format!("image={}", self.image),
            format!("entrypoint={}", names::INIT),
            format!("hostname={HOSTNAME}"),
            format!("env={NO_GPU}"),
            format!("cap_add={}", CAPABILITIES.join(",")),
            format!("seccomp={}", digest(&self.seccomp)),
            format!("label={}={}", labels::NODE, self.node),
            format!("label={}={}", labels::SANDBOX, self.sandbox.0),
            format!("label={}={}", labels::CLASS, self.class),
        ]);
        lines.sort();
        lines
    }

    fn sizes(&self) -> [String; 8] {
        [
            format!("memory={}", self.memory.0),
            format!("memory_and_swap={}", self.memory.0),
            format!("pids={}", self.pids),
            format!("nano_cpus={}", nano_cpus(self)),
            format!("cpu_shares={CPU_SHARES}"),
            format!("shm={}", self.shm.0),
            format!("oom_score_adj={OOM_SCORE_ADJ}"),
            format!("ulimit=core:{CORE_BYTES}:{CORE_BYTES}"),
        ]
    }

    fn paths(&self) -> Vec<String> {
        let binds = bound(self).into_iter().map(|bound| {
            let mode = if bound.writable { "rw" } else { "ro" };
            let (inside, host) = (bound.inside, bound.host);
            format!("mount={inside} bind {host} {mode} rprivate")
        });
        let tmpfs = self.tmpfs.iter().map(|t| {
            format!("tmpfs={} {}", t.inside, tmpfs_options(t, self.uid))
        });
        let masked = MASKED.iter().map(|path| format!("masked={path}"));
        let read_only =
            READ_ONLY.iter().map(|path| format!("read_only={path}"));
        binds.chain(tmpfs).chain(masked).chain(read_only).collect()
    }
}

/// What holds in every sandbox.
const FIXED: [&str; 25] = [
    "auto_remove=false",
    "cap_drop=ALL",
    "cgroup_namespace=private",
    "command=",
    "device_requests=0",
    "device_rules=0",
    "devices=0",
    "groups=0",
    "healthcheck=NONE",
    "ipc_namespace=private",
    "log=none",
    "network=none",
    "no_new_privileges=true",
    "oom_kill=true",
    "own_init=false",
    "pid_namespace=",
    "ports=0",
    "privileged=false",
    "read_only_root=true",
    "restart=no",
    "sysctls=0",
    "user=0:0",
    "user_namespace=",
    "uts_namespace=",
    "volumes_from=0",
];

/// A profile is long: its digest says as much.
pub(super) fn digest(seccomp: &str) -> String {
    let hash = Sha256::digest(seccomp.as_bytes());
    hash.iter()
        .fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// Whether a container is what was asked for: nothing less, nothing more.
/// Engines leave out what they do not know and only warn of it.
///
/// # Errors
///
/// [`EngineError::NotAsAsked`] with the first difference.
pub fn verify(
    spec: &LaunchSpec,
    inspection: &Inspection,
) -> Result<(), EngineError> {
    let (promised, shown) = (spec.promises(), &inspection.applied);
    let name_of = |line: &str| line.split('=').next().map(str::to_owned);
    let lacking = promised.iter().find(|line| !shown.contains(line));
    if let Some(line) = lacking {
        let instead = shown.iter().find(|other| {
            name_of(other) == name_of(line) && !promised.contains(other)
        });
        let instead = instead.map_or("nothing of the kind", String::as_str);
        return Err(EngineError::NotAsAsked(format!(
            "asked for `{line}`, and the engine shows `{instead}`"
        )));
    }
    match shown.iter().find(|line| !promised.contains(line)) {
        None => Ok(()),
        Some(line) => Err(EngineError::NotAsAsked(format!(
            "the engine shows `{line}`, which was not asked for"
        ))),
    }
}
