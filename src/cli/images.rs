use super::ctx::Ctx;
use super::exit::Exit;
use crate::engine::{Docker, OwnImage};
use crate::node::config::Config;
use anyhow::Context as _;
use clap::{Args, Subcommand};
use std::io;
use std::process::Command;

/// What `ovnode images` takes.
#[derive(Debug, Args)]
pub(super) struct ImagesArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Build the images that are not there yet
    Build {
        /// Classes [default: all]
        #[arg(value_name = "CLASS")]
        classes: Vec<String>,
        /// Make the base anew too, which is how security updates come in
        #[arg(long)]
        fresh: bool,
    },
    /// List the images that were built here
    List {
        /// One JSON document a line
        #[arg(long)]
        json: bool,
    },
}

pub(super) fn run(
    args: &ImagesArgs,
    ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    match &args.what {
        What::Build { classes, fresh } => build(classes, *fresh, ctx),
        What::List { json } => list(*json, ctx),
    }
}

/// Progress is the builder's own, on the streams that it inherits.
fn build(
    classes: &[String],
    fresh: bool,
    ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    let config = Config::load(&ctx.sources)?;
    let builder = config.workers.join("build");
    ctx.out.flush()?;
    let ended = Command::new(&builder)
        .args(fresh.then_some("--fresh"))
        .args(classes)
        .status()
        .with_context(|| {
            format!(
                "cannot run `{}` (`workers.dir` says where it lies)",
                builder.display()
            )
        })?;
    Ok(if ended.success() { Exit::Done } else { Exit::NotWell })
}

fn list(json: bool, ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    let config = Config::load(&ctx.sources)?;
    let docker = Docker::connect(&config.engine.socket);
    let images = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start a runtime")?
        .block_on(docker.own_images())?;
    if json {
        for image in &images {
            writeln!(ctx.out, "{}", as_json(image))?;
        }
    } else {
        print(&images, ctx)?;
    }
    Ok(Exit::Done)
}

/// Columns; their names are for people, who sit at a terminal.
fn print(images: &[OwnImage], ctx: &mut Ctx<'_>) -> io::Result<()> {
    if images.is_empty() {
        let text = "none is built yet: `ovnode images build` builds them all";
        return writeln!(ctx.err, "{text}");
    }
    if ctx.terminal {
        let names = ("CLASS", "SIZE", "MADE", "IMAGE");
        writeln!(
            ctx.out,
            "{:8}  {:>9}  {:24}  {}",
            names.0, names.1, names.2, names.3
        )?;
    }
    for image in images {
        let (size, made) = (image.size.to_string(), image.created.to_rfc3339());
        let name = match image.tags.as_slice() {
            [] => "(replaced by a newer one)".to_owned(),
            tags => tags.join(", "),
        };
        let class = image.class.as_str();
        writeln!(ctx.out, "{class:8}  {size:>9}  {made:24}  {name}")?;
    }
    Ok(())
}

fn as_json(image: &OwnImage) -> serde_json::Value {
    serde_json::json!({
        "class": image.class,
        "tags": image.tags,
        "id": image.id,
        "size_bytes": image.size.0,
        "created": image.created.to_rfc3339(),
    })
}
