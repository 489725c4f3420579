use super::ctx::Ctx;
use super::exit::Exit;
use anyhow::anyhow;
use clap::Args;
use std::path::PathBuf;
/// What `ovnode submit` takes.
#[derive(Debug, Args)]
pub(super) struct SubmitArgs {
    /// The job, a `platform.job@1` document (`-` for standard input)
    pub(super) file: PathBuf,
    /// The node to send it to [default: the best that offers itself]
    #[arg(long, value_name = "ID")]
    pub(super) node: Option<String>,
    /// How far the node must be trusted
    #[arg(long, value_name = "TRUST")]
    pub(super) trust: Option<String>,
}

pub(super) fn run(
    _args: &SubmitArgs,
    _ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    Err(anyhow!("`ovnode submit` is not built yet"))
}
