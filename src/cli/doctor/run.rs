use super::check::{Check, Outcome, as_json, print, worst};
use super::{engine, host, init, nats};
use crate::cli::ctx::Ctx;
use crate::cli::exit::Exit;
use crate::contract::Clock as _;
use crate::engine::Docker;
use crate::node::SystemClock;
use crate::node::config::{Config, ConfigError};
use anyhow::Context as _;
use clap::Args;
use std::fs;

/// What `ovnode doctor` takes.
#[derive(Debug, Args)]
pub(in crate::cli) struct DoctorArgs {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(in crate::cli) fn run(
    args: &DoctorArgs,
    ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    let mut checks = machine();
    match Config::load(&ctx.sources) {
        Ok(config) => {
            checks.push(config_is_well(&config));
            checks.extend(configured(&config, ctx)?);
        }
        Err(why) => checks.extend(config_faults(&why)),
    }
    if args.json {
        writeln!(ctx.out, "{}", as_json(&checks))?;
    } else {
        print(&checks, ctx.out)?;
    }
    Ok(match worst(&checks) {
        Outcome::Ok | Outcome::Warning => Exit::Done,
        Outcome::Fault => Exit::NotWell,
    })
}

/// What is so whatever the configuration says.
fn machine() -> Vec<Check> {
    let read = |path| fs::read_to_string(path).ok();
    let v2 = read("/sys/fs/cgroup/cgroup.controllers");
    let v1 = read("/proc/cgroups");
    vec![
        host::user(rustix::process::geteuid().as_raw()),
        host::clock(SystemClock.now().wall),
        host::cgroup(v2.as_deref(), v1.as_deref()),
    ]
}

fn config_is_well(config: &Config) -> Check {
    match &config.file {
        Some(file) => Check::ok("config", format!("`{}`", file.display())),
        None => Check::warning("config", "no file: defaults alone")
            .fix("ovnode config init"),
    }
}

fn config_faults(why: &ConfigError) -> Vec<Check> {
    match why {
        ConfigError::Read { .. } => {
            let fault = Check::fault("config", engine::chain(why));
            vec![fault.fix("ovnode config init")]
        }
        ConfigError::Faults(faults) => {
            let fault = |it: &_| Check::fault("config", format!("{it}"));
            faults.iter().map(fault).collect()
        }
    }
}

/// What the configuration names.
fn configured(config: &Config, ctx: &Ctx<'_>) -> anyhow::Result<Vec<Check>> {
    let mut checks = vec![host::state(config), init::look(&config.engine.init)];
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start a runtime")?;
    runtime.block_on(async {
        let docker = Docker::connect(&config.engine.socket);
        checks.extend(
            engine::look(&docker, &config.classes, &config.artifacts).await,
        );
        checks.extend(nats::look(&config.nats).await);
        checks.extend(host::withdrawn(&ctx.socket).await);
    });
    // A name that is still being looked up must not hold us back.
    runtime.shutdown_background();
    checks.push(host::daemon(&ctx.socket));
    checks.push(host::gpu(&config.gpu));
    Ok(checks)
}
