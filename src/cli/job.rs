use super::ctx::Ctx;
use super::exit::Exit;
use anyhow::anyhow;
use clap::Args;

/// What `ovnode job` takes.
#[derive(Debug, Args)]
pub(super) struct JobArgs {
    /// The job, `job_<ULID>`
    pub(super) id: String,
    /// Print the document as JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(_args: &JobArgs, _ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    Err(anyhow!("`ovnode job` is not built yet"))
}
