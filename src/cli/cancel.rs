use super::ctx::Ctx;
use super::exit::Exit;
use anyhow::anyhow;
use clap::Args;

/// What `ovnode cancel` takes.
#[derive(Debug, Args)]
pub(super) struct CancelArgs {
    /// The job, `job_<ULID>`
    pub(super) id: String,
}

pub(super) fn run(
    _args: &CancelArgs,
    _ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    Err(anyhow!("`ovnode cancel` is not built yet"))
}
