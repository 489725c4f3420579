use super::ctx::Ctx;
use super::exit::Exit;
use crate::node::config::{Config, ConfigError, DEFAULT_PATH, Secrets, Shown};
use anyhow::{Context as _, anyhow};
use clap::{Args, Subcommand, ValueEnum};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

const EXAMPLE: &str = include_str!("../../docs/node.example.toml");

/// What `ovnode config` takes.
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Write a commented example where the configuration is looked for
    Init {
        /// Write over a file that is there already
        #[arg(long)]
        force: bool,
    },
    /// Say all that is wrong with the configuration, or `ok`
    Check,
    /// Print every effective value and where it comes from
    Show {
        /// Whether secrets are written out
        #[arg(long, value_enum, default_value = "hidden")]
        secrets: Visibility,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Visibility {
    Hidden,
    Shown,
}

pub(super) fn run(
    args: &ConfigArgs,
    ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    match args.what {
        What::Init { force } => init(force, ctx),
        What::Check => check(ctx),
        What::Show { secrets } => show(secrets, ctx),
    }
}

fn init(force: bool, ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    let file = ctx.sources.file.clone();
    let file = file.unwrap_or_else(|| PathBuf::from(DEFAULT_PATH));
    let shown = file.display();
    if let Err(why) = write(&file, force) {
        let text = if why.kind() == ErrorKind::AlreadyExists {
            format!("`{shown}` is there already; `--force` writes over it")
        } else {
            format!("cannot write `{shown}`: {why}")
        };
        return Err(anyhow!(text));
    }
    writeln!(ctx.out, "wrote {shown}")?;
    writeln!(
        ctx.out,
        "next: edit it, then `ovnode config check` and `ovnode doctor`"
    )?;
    Ok(Exit::Done)
}

/// Whole or not at all: a half-written configuration would be read.
fn write(file: &Path, force: bool) -> io::Result<()> {
    let dir = match file.parent() {
        Some(dir) if dir != Path::new("") => dir,
        _ => Path::new("."),
    };
    fs::create_dir_all(dir)?;
    let mut aside = file.as_os_str().to_owned();
    aside.push(format!(".{}", std::process::id()));
    let aside = PathBuf::from(aside);
    let mut example =
        OpenOptions::new().write(true).create_new(true).open(&aside)?;
    let placed = example
        .write_all(EXAMPLE.as_bytes())
        .and_then(|()| example.sync_all())
        .and_then(|()| match force {
            true => fs::rename(&aside, file),
            // A link, unlike a rename, never replaces what is there.
            false => fs::hard_link(&aside, file),
        });
    if !force || placed.is_err() {
        fs::remove_file(&aside)?;
    }
    placed?;
    File::open(dir)?.sync_all()
}

fn check(ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    let config = match Config::load(&ctx.sources) {
        Ok(config) => config,
        Err(ConfigError::Faults(faults)) => {
            for fault in &faults {
                writeln!(ctx.out, "{fault}")?;
            }
            return Ok(Exit::Config);
        }
        Err(other @ ConfigError::Read { .. }) => return Err(other.into()),
    };
    if config.file.is_none() {
        writeln!(
            ctx.err,
            "there is no `{DEFAULT_PATH}`: defaults and the environment alone"
        )?;
    }
    writeln!(ctx.out, "ok")?;
    Ok(Exit::Done)
}

fn show(secrets: Visibility, ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    let secrets = match secrets {
        Visibility::Hidden => Secrets::Hidden,
        Visibility::Shown => Secrets::Shown,
    };
    let config = Config::load(&ctx.sources)?;
    print(&config.shown, secrets, ctx.out)
        .context("cannot print the configuration")?;
    Ok(Exit::Done)
}

fn print(
    shown: &[Shown],
    secrets: Secrets,
    out: &mut dyn Write,
) -> io::Result<()> {
    let line = |it: &Shown| format!("{} = {}", it.key, it.value(secrets));
    // Past this a long value pushes its own remark out, and no other's.
    let widest = shown.iter().map(|it| line(it).chars().count());
    let widest = widest.filter(|width| *width <= 60).max().unwrap_or(0);
    for it in shown {
        writeln!(out, "{:widest$}  # {}", line(it), it.origin)?;
    }
    Ok(())
}
