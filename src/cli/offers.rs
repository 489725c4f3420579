use super::ctx::Ctx;
use super::exit::Exit;
use anyhow::anyhow;
use clap::Args;

/// What `ovnode offers` takes.
#[derive(Debug, Args)]
pub(super) struct OffersArgs {
    /// Go on, with each offer as it comes
    #[arg(long)]
    pub(super) watch: bool,
    /// One JSON document a line
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn run(
    _args: &OffersArgs,
    _ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    Err(anyhow!("`ovnode offers` is not built yet"))
}
