use super::ask;
use super::ctx::Ctx;
use super::exit::Exit;
use super::render::{self, Style};
use crate::contract::{HealthStatus, StatusDocument};
use crate::control::Payload;
use std::time::Duration;

/// Show whether this node is well, what it does, and why it gets no work.
///
/// Exits 1 when its health is not `up`.
#[derive(Debug, clap::Args)]
pub(super) struct StatusArgs {
    /// Draw it again each second
    #[arg(long)]
    watch: bool,
    /// Print the status document (with --watch: one a line)
    #[arg(long)]
    json: bool,
}

pub(super) fn run(
    args: &StatusArgs,
    ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    let ended = ask::block_on(show(args, ctx))?;
    ask::settle(ended)
}

async fn show(args: &StatusArgs, ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    let daemon = ask::daemon(ctx);
    if !args.watch {
        let answer = daemon.get("/v1/status").await?;
        return print(args, ctx, &answer);
    }
    let mut beat = tokio::time::interval(Duration::from_secs(1));
    loop {
        beat.tick().await;
        match daemon.get("/v1/status").await {
            Ok(answer) => drop(print(args, ctx, &answer)?),
            // On a terminal the daemon's restart can be waited for; a
            // program wants to know.
            Err(error) if ctx.terminal && !args.json => {
                writeln!(ctx.out, "{CLEAR}ovnode: {error}")?;
            }
            Err(error) => return Err(error.into()),
        }
        ctx.out.flush()?;
    }
}

/// Home, and nothing below.
const CLEAR: &str = "\x1b[H\x1b[2J";

fn print(
    args: &StatusArgs,
    ctx: &mut Ctx<'_>,
    answer: &Payload,
) -> anyhow::Result<Exit> {
    let of: StatusDocument = ask::document(answer)?;
    if args.json {
        ctx.out.write_all(answer)?;
        writeln!(ctx.out)?;
    } else {
        let style = Style::of_stdout(ctx.terminal);
        if args.watch && ctx.terminal {
            write!(ctx.out, "{CLEAR}")?;
        }
        // The daemon's own time: ages are right even where this side's
        // clock is not.
        write!(ctx.out, "{}", render::status(&of, style, of.at))?;
        if args.watch && !ctx.terminal {
            writeln!(ctx.out)?;
        }
    }
    Ok(match of.health.status {
        HealthStatus::Up => Exit::Done,
        HealthStatus::Degraded
        | HealthStatus::Down
        | HealthStatus::Draining => Exit::NotWell,
    })
}
