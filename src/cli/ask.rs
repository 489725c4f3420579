use super::ctx::Ctx;
use super::exit::{CliError, Exit};
use crate::contract::{BadId, JobId};
use crate::control::{ClientError, ControlClient};
use anyhow::Context as _;
use serde::de::DeserializeOwned;
use std::future::Future;

/// The daemon behind the socket.
pub(super) fn daemon(ctx: &Ctx<'_>) -> ControlClient {
    ControlClient::new(&ctx.socket)
}

/// Runs a command's questions to their end.
pub(super) fn block_on<T>(asked: impl Future<Output = T>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the event loop")?;
    Ok(runtime.block_on(asked))
}

/// The document in `json`, as the daemon of another version may have said
/// it.
pub(super) fn document<T: DeserializeOwned>(json: &[u8]) -> anyhow::Result<T> {
    serde_json::from_slice(json)
        .context("the daemon's answer cannot be read; is it another version?")
}

/// What the end of a command's questions means to whoever called it: what
/// is not there is not well, and whoever does not answer is unavailable.
pub(super) fn settle(ended: anyhow::Result<Exit>) -> anyhow::Result<Exit> {
    let Err(error) = ended else { return ended };
    match error.downcast_ref::<ClientError>() {
        None | Some(ClientError::NotFound { .. }) => Err(error),
        Some(
            ClientError::NotRunning { .. }
            | ClientError::Denied { .. }
            | ClientError::Silent { .. }
            | ClientError::Refused { .. }
            | ClientError::Broken { .. }
            | ClientError::Connect { .. },
        ) => Err(CliError::Unavailable(format!("{error:#}")).into()),
    }
}

/// A job id as it is typed.
pub(super) fn job_id(typed: &str) -> Result<JobId, BadId> {
    JobId::try_from(typed.to_owned())
}
