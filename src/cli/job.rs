use super::ask;
use super::ctx::Ctx;
use super::exit::Exit;
use super::render::{self, Style};
use crate::contract::{JobDocument, JobId};

/// Show one job: how far it is, what it used, how it ended.
///
/// Exits 1 when it ended otherwise than with code 0, or is not known.
#[derive(Debug, clap::Args)]
pub(super) struct JobArgs {
    /// Its id
    #[arg(value_parser = ask::job_id)]
    id: JobId,
    /// Print the document
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &JobArgs, ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    let ended = ask::block_on(show(args, ctx))?;
    ask::settle(ended)
}

async fn show(args: &JobArgs, ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    let path = format!("/v1/jobs/{}", args.id);
    let answer = ask::daemon(ctx).get(&path).await?;
    let of: JobDocument = ask::document(&answer)?;
    if args.json {
        ctx.out.write_all(&answer)?;
        writeln!(ctx.out)?;
    } else {
        let style = Style::of_stdout(ctx.terminal);
        write!(ctx.out, "{}", render::job(&of.job, style, of.at))?;
    }
    Ok(match &of.job.exit {
        Some(exit) if !render::is_good(exit) => Exit::NotWell,
        Some(_) | None => Exit::Done,
    })
}
