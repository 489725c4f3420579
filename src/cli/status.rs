use super::ctx::Ctx;
use super::exit::Exit;
use anyhow::anyhow;
use clap::Args;

/// What `ovnode status` takes.
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// Print the whole document as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Print it again whenever it changes
    #[arg(long)]
    pub(super) watch: bool,
}

pub(super) fn run(
    _args: &StatusArgs,
    _ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    Err(anyhow!("`ovnode status` is not built yet"))
}
