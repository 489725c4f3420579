use super::ask;
use super::ctx::Ctx;
use super::exit::Exit;
use crate::contract::JobId;

/// End a job: it is asked to, and killed when its grace is over.
#[derive(Debug, clap::Args)]
pub(super) struct CancelArgs {
    /// Its id
    #[arg(value_parser = ask::job_id)]
    id: JobId,
}

pub(super) fn run(
    args: &CancelArgs,
    ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    let ended = ask::block_on(cancel(args, ctx))?;
    ask::settle(ended)
}

async fn cancel(args: &CancelArgs, ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    let id = &args.id;
    ask::daemon(ctx).post(&format!("/v1/jobs/{id}/cancel")).await?;
    writeln!(ctx.out, "{id} is being ended; `ovnode job {id}` shows its fate")?;
    Ok(Exit::Done)
}
