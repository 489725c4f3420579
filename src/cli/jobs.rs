use super::ctx::Ctx;
use super::exit::Exit;
use anyhow::anyhow;
use clap::Args;

/// What `ovnode jobs` takes.
#[derive(Debug, Args)]
pub(super) struct JobsArgs {
    /// One JSON document a line
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(
    _args: &JobsArgs,
    _ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    Err(anyhow!("`ovnode jobs` is not built yet"))
}
