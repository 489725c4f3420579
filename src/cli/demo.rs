use super::ctx::Ctx;
use super::exit::Exit;
use anyhow::anyhow;
use clap::Args;

/// What `ovnode demo` takes.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {}

pub(super) fn run(
    _args: &DemoArgs,
    _ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    Err(anyhow!("`ovnode demo` is not built yet"))
}
