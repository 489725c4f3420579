use super::section::Section;
use std::path::PathBuf;

/// The container engine, and what is brought into each sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineConfig {
    /// Its Unix socket.
    pub socket: PathBuf,
    /// The static binary that is PID 1 of every sandbox.
    pub init: PathBuf,
    /// The cgroup under which it puts containers, where the owner says so.
    pub jobs_cgroup: Option<String>,
}

/// The local socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlConfig {
    /// Where it is bound.
    pub socket: PathBuf,
}

/// Whether GPUs are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GpuConfig {
    /// No.
    Off,
    /// Yes; a machine without one is normal.
    On {
        /// NVML, where it does not lie where the linker looks.
        library: Option<PathBuf>,
    },
}

/// What is offered, and what of it cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferConfig {
    /// Whether each class has an offer of kind `runtime` too.
    pub runtimes: bool,
    /// Configured line rate of the uplinks, million bits a second.
    pub line_mbps: Option<u32>,
    /// Interfaces that lead out; every one with a device behind it where
    /// none is named.
    pub uplinks: Vec<String>,
}

/// What the daemon's log looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogConfig {
    /// A level or directives, as `info` or `info,ovnode::link=debug`.
    pub filter: String,
    /// Its form.
    pub format: LogFormat,
}

/// The form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// The journal under systemd, else lines for people.
    Auto,
    /// Lines for people.
    Human,
    /// One JSON document a line.
    Json,
}

/// Reads `[engine]`.
pub(super) fn engine(mut section: Section<'_>) -> EngineConfig {
    let socket = section.or("socket", "/var/run/docker.sock".into());
    let init = section.or("init", "/usr/lib/ovnode/ovnode-init".into());
    let jobs_cgroup = section.opt("jobs_cgroup");
    section.done();
    EngineConfig { socket, init, jobs_cgroup }
}

/// Reads `[control]`.
pub(super) fn control(mut section: Section<'_>) -> ControlConfig {
    let socket: PathBuf =
        section.or("socket", "/run/ovnode/control.sock".into());
    // sun_path holds 108 bytes with its end.
    if socket.as_os_str().len() > 107 {
        section.fault("socket", "is longer than the 107 bytes of a socket");
    }
    section.done();
    ControlConfig { socket }
}

/// Reads `[gpu]`.
pub(super) fn gpu(mut section: Section<'_>) -> GpuConfig {
    let enabled = section.or("enabled", true);
    let library = section.opt("library");
    if !enabled && library.is_some() {
        let message = "is of no use where `gpu.enabled` is false";
        section.fault("library", message);
    }
    section.done();
    if enabled { GpuConfig::On { library } } else { GpuConfig::Off }
}

/// Reads `[offer]`.
pub(super) fn offer(mut section: Section<'_>) -> OfferConfig {
    let kinds: Vec<String> = section.or("kinds", vec!["node".to_owned()]);
    let known = |kind: &String| kind == "node" || kind == "runtime";
    if !kinds.iter().all(known) || !kinds.iter().any(|kind| kind == "node") {
        let message = "must be [\"node\"] or [\"node\", \"runtime\"]: \
             this version offers nothing else";
        section.fault("kinds", message);
    }
    let runtimes = kinds.iter().any(|kind| kind == "runtime");
    let line_mbps = section.opt("line_mbps");
    let uplinks = section.or("uplinks", Vec::new());
    section.done();
    OfferConfig { runtimes, line_mbps, uplinks }
}

/// Reads `[log]`.
pub(super) fn log(mut section: Section<'_>) -> Option<LogConfig> {
    let filter: String = section.or("filter", "info".to_owned());
    if let Err(why) = tracing_subscriber::EnvFilter::builder().parse(&filter) {
        let message = format!("`{filter}` is no log filter: {why}");
        section.fault("filter", message);
    }
    let words = ["auto", "human", "json"];
    let read = |word: &str| match word {
        "auto" => Some(LogFormat::Auto),
        "human" => Some(LogFormat::Human),
        "json" => Some(LogFormat::Json),
        _ => None,
    };
    let format = section.word("format", (&words, read), "auto");
    section.done();
    Some(LogConfig { filter, format: format? })
}
