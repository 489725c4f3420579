use super::identity;
use super::spec::labels;
use super::{Bind, LaunchSpec, Tmpfs};
use crate::init::names;
use bollard::models::{
    ContainerCreateBody, HealthConfig, HostConfig, HostConfigCgroupnsModeEnum,
    HostConfigLogConfig, Mount, MountBindOptions,
    MountBindOptionsPropagationEnum, MountType, ResourcesUlimits,
    RestartPolicy, RestartPolicyNameEnum,
};
use std::collections::HashMap;

/// The same in every sandbox: a machine's name is nobody's business there.
pub(super) const HOSTNAME: &str = "ovnode";

/// All that PID 1 holds: to become the job's user, to end its processes, and
/// to empty its own bounding set.
pub(super) const CAPABILITIES: [&str; 4] =
    ["KILL", "SETGID", "SETPCAP", "SETUID"];

/// Where an NVIDIA runtime is an engine's default, an image's word would give
/// it every GPU. PID 1 hands none of this to the job.
pub(super) const NO_GPU: &str = "NVIDIA_VISIBLE_DEVICES=void";

/// The engine's default weight is 1024. A sixteenth of it lets the owner's
/// own containers go first on a busy machine; an idle one gives all it has.
pub(super) const CPU_SHARES: i64 = 64;

/// Halfway: before the owner's programs when memory runs out (0), after what
/// a job makes of itself (its processes raise theirs).
pub(super) const OOM_SCORE_ADJ: i64 = 500;

/// Not 0: that one is not looked at where cores are piped to a collector of
/// the host's, and 1 is what a collector's own crash is stopped by.
pub(super) const CORE_BYTES: i64 = 1;

/// What the engine is asked to make of a spec, and all of it.
pub(super) fn body(spec: &LaunchSpec) -> ContainerCreateBody {
    ContainerCreateBody {
        image: Some(spec.image.clone()),
        hostname: Some(HOSTNAME.to_owned()),
        // With an entrypoint of ours and no command the image's are not read.
        entrypoint: Some(vec![names::INIT.to_owned()]),
        cmd: Some(Vec::new()),
        user: Some("0:0".to_owned()),
        working_dir: Some("/".to_owned()),
        env: Some(vec![NO_GPU.to_owned()]),
        healthcheck: Some(HealthConfig {
            test: Some(vec!["NONE".to_owned()]),
            ..HealthConfig::default()
        }),
        labels: Some(own_labels(spec)),
        tty: Some(false),
        open_stdin: Some(false),
        attach_stdin: Some(false),
        attach_stdout: Some(false),
        attach_stderr: Some(false),
        host_config: Some(host_config(spec)),
        ..ContainerCreateBody::default()
    }
}

fn own_labels(spec: &LaunchSpec) -> HashMap<String, String> {
    HashMap::from([
        (labels::NODE.to_owned(), spec.node.to_string()),
        (labels::SANDBOX.to_owned(), spec.sandbox.0.clone()),
        (labels::CLASS.to_owned(), spec.class.to_string()),
    ])
}

fn host_config(spec: &LaunchSpec) -> HostConfig {
    HostConfig {
        network_mode: Some("none".to_owned()),
        ipc_mode: Some("private".to_owned()),
        cgroupns_mode: Some(HostConfigCgroupnsModeEnum::PRIVATE),
        privileged: Some(false),
        readonly_rootfs: Some(true),
        cap_drop: Some(vec!["ALL".to_owned()]),
        cap_add: Some(CAPABILITIES.map(str::to_owned).to_vec()),
        security_opt: Some(vec![
            "no-new-privileges".to_owned(),
            format!("seccomp={}", spec.seccomp),
        ]),
        mounts: Some(mounts(spec)),
        tmpfs: Some(
            spec.tmpfs
                .iter()
                .map(|t| (t.inside.clone(), tmpfs_options(t, spec.uid)))
                .collect(),
        ),
        // Nothing a job says passes through the engine, so nothing of it can
        // fill the engine's disk.
        log_config: Some(HostConfigLogConfig {
            typ: Some("none".to_owned()),
            config: Some(HashMap::new()),
        }),
        restart_policy: Some(RestartPolicy {
            name: Some(RestartPolicyNameEnum::NO),
            maximum_retry_count: None,
        }),
        // What became of it is read from the engine after its end.
        auto_remove: Some(false),
        init: Some(false),
        ..limits(spec)
    }
}

fn limits(spec: &LaunchSpec) -> HostConfig {
    let memory = signed(spec.memory.0);
    HostConfig {
        memory: Some(memory),
        // Memory and swap together: no more than the memory alone.
        memory_swap: Some(memory),
        // Cgroup v1 only; a v2 engine leaves it out and allows no swap.
        memory_swappiness: Some(0),
        oom_kill_disable: Some(false),
        oom_score_adj: Some(OOM_SCORE_ADJ),
        pids_limit: Some(i64::from(spec.pids)),
        nano_cpus: Some(nano_cpus(spec)),
        cpu_shares: Some(CPU_SHARES),
        shm_size: Some(signed(spec.shm.0)),
        ulimits: Some(vec![ResourcesUlimits {
            name: Some("core".to_owned()),
            soft: Some(CORE_BYTES),
            hard: Some(CORE_BYTES),
        }]),
        devices: Some(Vec::new()),
        ..HostConfig::default()
    }
}

pub(super) fn nano_cpus(spec: &LaunchSpec) -> i64 {
    signed(spec.cpu.0.saturating_mul(1_000_000))
}

/// The engine's numbers are signed; more than it can say is all there is.
pub(super) fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A bind mount of a sandbox.
pub(super) struct Bound {
    pub(super) inside: String,
    pub(super) host: String,
    pub(super) writable: bool,
}

/// Every path of the host that a sandbox sees.
pub(super) fn bound(spec: &LaunchSpec) -> Vec<Bound> {
    let read_only = |host: String, inside: &str| Bound {
        inside: inside.to_owned(),
        host,
        writable: false,
    };
    let record = spec.record.display().to_string();
    let file = |name: &str| spec.record.join(name).display().to_string();
    let own = [
        Bound { writable: true, ..read_only(record, names::MOUNT) },
        read_only(spec.init.display().to_string(), names::INIT),
        read_only(file(identity::PASSWD), "/etc/passwd"),
        read_only(file(identity::GROUP), "/etc/group"),
    ];
    let artifacts = spec.binds.iter().map(|Bind { host, inside }| {
        read_only(host.display().to_string(), inside)
    });
    own.into_iter().chain(artifacts).collect()
}

fn mounts(spec: &LaunchSpec) -> Vec<Mount> {
    bound(spec).into_iter().map(mount).collect()
}

fn mount(bound: Bound) -> Mount {
    Mount {
        typ: Some(MountType::BIND),
        source: Some(bound.host),
        target: Some(bound.inside),
        read_only: Some(!bound.writable),
        bind_options: Some(MountBindOptions {
            propagation: Some(MountBindOptionsPropagationEnum::RPRIVATE),
            // What is mounted below a directory would be writable below its
            // read-only bind (engines before 25 know no other). So nothing
            // below it is bound at all: this holds for every engine.
            non_recursive: Some(true),
            ..MountBindOptions::default()
        }),
        ..Mount::default()
    }
}

/// `/tmp` is everybody's, as everywhere; all else is the job's alone.
pub(super) fn tmpfs_options(tmpfs: &Tmpfs, uid: u32) -> String {
    let exec = if tmpfs.exec { "exec" } else { "noexec" };
    let owner = if tmpfs.inside == "/tmp" {
        "mode=1777".to_owned()
    } else {
        format!("mode=0700,uid={uid},gid={uid}")
    };
    let (size, inodes) = (tmpfs.size.0, tmpfs.inodes);
    format!("rw,{exec},nosuid,nodev,size={size},nr_inodes={inodes},{owner}")
}
