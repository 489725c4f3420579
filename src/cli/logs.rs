use super::ask;
use super::ctx::Ctx;
use super::exit::Exit;
use super::render::{Escaper, Style};
use crate::contract::JobId;

/// Print what a job wrote to its output.
#[derive(Debug, clap::Args)]
pub(super) struct LogsArgs {
    /// Its id
    #[arg(value_parser = ask::job_id)]
    id: JobId,
    /// Go on until the job ends
    #[arg(short, long)]
    follow: bool,
    /// Write control bytes to the terminal as the job wrote them
    #[arg(long)]
    raw: bool,
}

pub(super) fn run(args: &LogsArgs, ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    let ended = ask::block_on(show(args, ctx))?;
    ask::settle(ended)
}

async fn show(args: &LogsArgs, ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    let follow = if args.follow { "?follow=1" } else { "" };
    let path = format!("/v1/jobs/{}/logs{follow}", args.id);
    let mut output = ask::daemon(ctx).stream(&path).await?;
    // What a job writes may not steer the terminal of who looks at it; a
    // pipe gets the very bytes.
    let utf8 = Style::of_stdout(ctx.terminal).utf8;
    let mut escaper = (ctx.terminal && !args.raw).then(|| Escaper::new(utf8));
    while let Some(piece) = output.next().await? {
        match &mut escaper {
            Some(escaper) => write!(ctx.out, "{}", escaper.show(&piece))?,
            None => ctx.out.write_all(&piece)?,
        }
        ctx.out.flush()?;
    }
    if let Some(escaper) = escaper {
        write!(ctx.out, "{}", escaper.finish())?;
    }
    Ok(Exit::Done)
}
