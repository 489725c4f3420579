use super::ctx::Ctx;
use super::exit::Exit;
use anyhow::anyhow;
use clap::Args;

/// What `ovnode logs` takes.
#[derive(Debug, Args)]
pub(super) struct LogsArgs {
    /// The job, `job_<ULID>`
    pub(super) id: String,
    /// Go on until the job has ended
    #[arg(short, long)]
    pub(super) follow: bool,
}

pub(super) fn run(
    _args: &LogsArgs,
    _ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    Err(anyhow!("`ovnode logs` is not built yet"))
}
