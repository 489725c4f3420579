use super::ctx::Ctx;
use super::exit::Exit;
use anyhow::anyhow;
use clap::Args;

/// What `ovnode run` takes.
#[derive(Debug, Args)]
pub(super) struct RunArgs {}

pub(super) fn run(_args: &RunArgs, _ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    Err(anyhow!("`ovnode run` is not built yet"))
}
