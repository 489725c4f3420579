use super::promise::{MASKED, READ_ONLY, digest};
use super::spec::labels;
use bollard::models::{
    ContainerConfig, ContainerInspectResponse, HostConfig,
    HostConfigCgroupnsModeEnum, MountPoint, MountPointType,
    RestartPolicyNameEnum,
};

/// What the engine made of a container, as sorted `name=value` lines in the
/// words of `LaunchSpec::promises`.
pub(super) fn applied(said: &ContainerInspectResponse) -> Vec<String> {
    let host = said.host_config.clone().unwrap_or_default();
    let config = said.config.clone().unwrap_or_default();
    let mut lines = vec![format!("image={}", text(&said.image))];
    lines.extend(program(&config));
    lines.extend(limits(&host));
    lines.extend(namespaces(&host));
    lines.extend(rights(&host));
    lines.extend(devices(&host));
    lines.extend(life(&host));
    lines.extend(security(&host));
    lines.extend(said.mounts.iter().flatten().map(mount));
    let tmpfs = host.tmpfs.iter().flatten();
    lines.extend(tmpfs.map(|(at, options)| format!("tmpfs={at} {options}")));
    lines.extend(kept(&host.masked_paths, "masked", &MASKED));
    lines.extend(kept(&host.readonly_paths, "read_only", &READ_ONLY));
    lines.sort();
    lines
}

fn program(config: &ContainerConfig) -> Vec<String> {
    let health = config.healthcheck.clone().unwrap_or_default();
    let mut lines = vec![
        format!("entrypoint={}", list(&config.entrypoint)),
        format!("command={}", list(&config.cmd)),
        format!("user={}", text(&config.user)),
        format!("hostname={}", text(&config.hostname)),
        format!("healthcheck={}", list(&health.test)),
    ];
    // Of its environment only the word on GPUs matters: an image's own is
    // inherited by PID 1, which hands none of it on.
    let env = config.env.iter().flatten();
    let gpus = env.filter(|v| v.starts_with("NVIDIA_VISIBLE_DEVICES="));
    lines.extend(gpus.map(|line| format!("env={line}")));
    let own = config.labels.iter().flatten();
    let own = own.filter(|(name, _)| name.starts_with(labels::PREFIX));
    lines.extend(own.map(|(name, value)| format!("label={name}={value}")));
    lines
}

fn limits(host: &HostConfig) -> Vec<String> {
    let mut lines = vec![
        format!("memory={}", number(host.memory)),
        format!("memory_and_swap={}", number(host.memory_swap)),
        format!("pids={}", number(host.pids_limit)),
        format!("nano_cpus={}", number(host.nano_cpus)),
        format!("cpu_shares={}", number(host.cpu_shares)),
        format!("shm={}", number(host.shm_size)),
        format!("oom_score_adj={}", number(host.oom_score_adj)),
        // Cgroup v2 has no such switch, and its engines say nothing.
        format!("oom_kill={}", !host.oom_kill_disable.unwrap_or(false)),
    ];
    lines.extend(host.ulimits.iter().flatten().map(|limit| {
        let name = text(&limit.name);
        format!("ulimit={name}:{}:{}", number(limit.soft), number(limit.hard))
    }));
    lines
}

fn namespaces(host: &HostConfig) -> [String; 6] {
    let cgroup = host.cgroupns_mode.as_ref();
    [
        format!("network={}", text(&host.network_mode)),
        format!("ipc_namespace={}", text(&host.ipc_mode)),
        format!("pid_namespace={}", text(&host.pid_mode)),
        format!("uts_namespace={}", text(&host.uts_mode)),
        format!("user_namespace={}", text(&host.userns_mode)),
        format!(
            "cgroup_namespace={}",
            cgroup
                .map(HostConfigCgroupnsModeEnum::to_string)
                .unwrap_or_default()
        ),
    ]
}

fn rights(host: &HostConfig) -> [String; 5] {
    [
        format!("cap_add={}", capabilities(&host.cap_add)),
        format!("cap_drop={}", capabilities(&host.cap_drop)),
        format!("privileged={}", host.privileged.unwrap_or(false)),
        format!("read_only_root={}", host.readonly_rootfs.unwrap_or(false)),
        format!("groups={}", host.group_add.iter().flatten().count()),
    ]
}

fn devices(host: &HostConfig) -> [String; 6] {
    let requests = host.device_requests.iter().flatten().count();
    let rules = host.device_cgroup_rules.iter().flatten().count();
    [
        format!("devices={}", host.devices.iter().flatten().count()),
        format!("device_requests={requests}"),
        format!("device_rules={rules}"),
        format!("ports={}", host.port_bindings.iter().flatten().count()),
        format!("sysctls={}", host.sysctls.iter().flatten().count()),
        format!("volumes_from={}", host.volumes_from.iter().flatten().count()),
    ]
}

fn life(host: &HostConfig) -> [String; 4] {
    let log = host.log_config.clone().unwrap_or_default();
    let restart = host.restart_policy.clone().unwrap_or_default().name;
    // Engines say an absent policy as an empty name.
    let restart = match restart {
        None | Some(RestartPolicyNameEnum::EMPTY) => "no".to_owned(),
        Some(name) => name.to_string(),
    };
    [
        format!("log={}", text(&log.typ)),
        format!("restart={restart}"),
        format!("auto_remove={}", host.auto_remove.unwrap_or(false)),
        format!("own_init={}", host.init.unwrap_or(false)),
    ]
}

fn security(host: &HostConfig) -> Vec<String> {
    let options = host.security_opt.iter().flatten();
    options
        .map(|option| match option.split_once(['=', ':']) {
            None if option == "no-new-privileges" => {
                "no_new_privileges=true".to_owned()
            }
            Some(("no-new-privileges", on)) => {
                format!("no_new_privileges={on}")
            }
            Some(("seccomp", profile)) => {
                format!("seccomp={}", digest(profile))
            }
            _ => format!("security_option={option}"),
        })
        .collect()
}

fn mount(mount: &MountPoint) -> String {
    let kind = mount.typ.as_ref();
    let kind = kind.map(MountPointType::to_string).unwrap_or_default();
    let mode = if mount.rw == Some(true) { "rw" } else { "ro" };
    let (inside, host) = (text(&mount.destination), text(&mount.source));
    let propagation = text(&mount.propagation);
    format!("mount={inside} {kind} {host} {mode} {propagation}")
}

/// Those of `wanted` that are there; engines have longer lists of their own.
fn kept(
    paths: &Option<Vec<String>>,
    name: &str,
    wanted: &[&str],
) -> Vec<String> {
    let paths: Vec<&str> = paths.iter().flatten().map(String::as_str).collect();
    let there = wanted.iter().filter(|path| paths.contains(path));
    there.map(|path| format!("{name}={path}")).collect()
}

/// Engines say the same capability with its prefix and without.
fn capabilities(names: &Option<Vec<String>>) -> String {
    let names = names.iter().flatten();
    let mut names: Vec<&str> =
        names.map(|name| name.strip_prefix("CAP_").unwrap_or(name)).collect();
    names.sort_unstable();
    names.join(",")
}

fn text(value: &Option<String>) -> &str {
    value.as_deref().unwrap_or_default()
}

fn list(values: &Option<Vec<String>>) -> String {
    values.as_deref().unwrap_or_default().join(" ")
}

fn number(value: Option<i64>) -> String {
    value.map_or_else(|| "none".to_owned(), |n| n.to_string())
}
