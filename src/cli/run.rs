use super::ctx::Ctx;
use super::exit::{CliError, Exit};
use crate::node::config::Config;
use crate::node::{DaemonError, ServiceError, serve, start_logs};
use anyhow::Context as _;
use clap::Args;

/// What `ovnode run` takes.
#[derive(Debug, Args)]
pub(super) struct RunArgs {}

pub(super) fn run(_args: &RunArgs, ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    let config = Config::load(&ctx.sources)?;
    let journal = ctx.sources.vars.iter();
    let journal = journal.clone().find(|(name, _)| name == "JOURNAL_STREAM");
    start_logs(&config.log, journal.map(|(_, stream)| stream.as_str()))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the event loop")?;
    match runtime.block_on(serve(config)) {
        Ok(()) => Ok(Exit::Done),
        Err(ServiceError::Start(DaemonError::NotRoot { uid })) => {
            let why = DaemonError::NotRoot { uid }.to_string();
            Err(CliError::Config(why).into())
        }
        Err(error) => Err(error.into()),
    }
}
