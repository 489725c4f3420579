use super::ask;
use super::ctx::Ctx;
use super::exit::Exit;
use super::render::{self, Style};
use crate::contract::JobList;

/// List the jobs that this node remembers.
#[derive(Debug, clap::Args)]
pub(super) struct JobsArgs {
    /// Print the document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &JobsArgs, ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    let ended = ask::block_on(show(args, ctx))?;
    ask::settle(ended)
}

async fn show(args: &JobsArgs, ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    let answer = ask::daemon(ctx).get("/v1/jobs").await?;
    if args.json {
        ctx.out.write_all(&answer)?;
        writeln!(ctx.out)?;
        return Ok(Exit::Done);
    }
    let of: JobList = ask::document(&answer)?;
    let style = Style::of_stdout(ctx.terminal);
    write!(ctx.out, "{}", render::jobs(&of.jobs, style, of.at))?;
    Ok(Exit::Done)
}
