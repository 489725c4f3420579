use super::client;
use super::session::submit;
use crate::cli::ask;
use crate::cli::ctx::Ctx;
use crate::cli::exit::Exit;
use crate::contract::{BadId, DispatcherId, NodeId};
use anyhow::Context as _;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A job's document is part of a frame of at most this many bytes.
const JOB_BYTES: usize = 1_000_000;

/// Run one job on a node: send it, print what it says, end with its fate.
///
/// Its output goes to standard output, notes to standard error. Exits 0 when
/// the job exited with 0, else 1. An interrupt cancels the job.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct SubmitArgs {
    /// The job, a `platform.job@1` document (`-` for standard input);
    /// without an id, or with `"new"`, it gets one
    pub(super) file: PathBuf,
    /// The node to send it to [default: the best that offers itself]
    #[arg(long, value_parser = node_id, value_name = "ID")]
    pub(super) node: Option<NodeId>,
    /// How far the node must be trusted; a user-owned one is used only where
    /// that is named
    #[arg(long, value_parser = TRUSTS, value_name = "TRUST")]
    pub(super) trust: Option<String>,
    /// Our own name among dispatchers, the last token of what we send on
    #[arg(long = "as", value_parser = node_id, default_value = "submit")]
    pub(super) dispatcher: DispatcherId,
    /// How long an offer that fits is waited for, in seconds
    #[arg(long, default_value_t = 12, value_name = "SECONDS")]
    pub(super) wait: u64,
    /// Print every frame as a line of JSON
    #[arg(long)]
    pub(super) json: bool,
}

const TRUSTS: [&str; 5] =
    ["first-party", "user-owned", "partner", "community", "external"];

fn node_id(typed: &str) -> Result<NodeId, BadId> {
    NodeId::try_from(typed.to_owned())
}

pub(in crate::cli) fn run(
    args: &SubmitArgs,
    ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    let document = read(&args.file, ctx)?;
    ask::block_on(async {
        let mut wire = client::connect(args, ctx).await?;
        submit(args, document, &mut wire, ctx).await
    })?
}

fn read(file: &Path, ctx: &mut Ctx<'_>) -> anyhow::Result<Value> {
    let name = file.display();
    let text = if file == Path::new("-") {
        let mut text = String::new();
        ctx.input.read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(file)
    };
    let text = text.with_context(|| format!("cannot read `{name}`"))?;
    anyhow::ensure!(
        text.len() <= JOB_BYTES,
        "`{name}` holds {} bytes, a job at most {JOB_BYTES}",
        text.len()
    );
    serde_json::from_str(&text).with_context(|| format!("`{name}` is not JSON"))
}
