use super::SubmitArgs;
use super::wire::{Heard, Sent, Wire};
use crate::cli::ctx::Ctx;
use crate::cli::exit::CliError;
use crate::cli::render::OfferView;
use crate::contract::{Clock, Faults, Job, JobFrame, JobId, NodeId};
use crate::link::client::{
    Dispatcher, FrameSeen, OfferNews, OfferSeen, Offers, Run, Sent as Said,
};
use crate::node::config::Config;
use crate::node::{SystemClock, dispatcher_config, new_job_id};
use anyhow::Context as _;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Connects as the configuration says, with a name of our own.
pub(super) async fn connect(
    args: &SubmitArgs,
    ctx: &Ctx<'_>,
) -> anyhow::Result<Client> {
    let config = Config::load(&ctx.sources)?;
    let me = args.dispatcher.clone();
    let config = dispatcher_config(&config, me, Arc::new(SystemClock));
    let dispatcher = Dispatcher::connect(config).await;
    let dispatcher = dispatcher.map_err(|err| {
        CliError::Unavailable(format!("cannot reach NATS: {err}"))
    })?;
    Ok(Client { dispatcher, heard: None, run: None, living: BTreeMap::new() })
}

/// Long enough that several nodes are heard where many speak, short enough
/// that nobody waits for the others once one fits.
const MOMENT: Duration = Duration::from_secs(1);

/// The library's dispatcher, with at most one job.
pub(super) struct Client {
    dispatcher: Dispatcher,
    heard: Option<Offers>,
    /// By subject.
    living: BTreeMap<String, OfferSeen>,
    run: Option<Run>,
}

impl Client {
    fn run(&mut self) -> anyhow::Result<&mut Run> {
        self.run.as_mut().context("no job was sent")
    }
}

impl Wire for Client {
    fn mint(&mut self) -> anyhow::Result<JobId> {
        Ok(new_job_id(SystemClock.now().wall)?)
    }

    fn check(&self, document: &Value) -> Result<Job, Faults> {
        Job::parse(document)
    }

    async fn offers(&mut self) -> anyhow::Result<Vec<OfferView>> {
        let heard = match &mut self.heard {
            Some(heard) => heard,
            heard @ None => heard.insert(self.dispatcher.offers().await?),
        };
        let until = Instant::now() + MOMENT;
        while let Ok(Some(news)) = timeout_at(until, heard.next()).await {
            match news {
                OfferNews::Said(offer) => {
                    self.living.insert(offer.subject.clone(), offer);
                }
                OfferNews::Gone(gone) => drop(self.living.remove(&gone)),
            }
        }
        let views = self.living.values();
        Ok(views.filter_map(|it| OfferView::read(&it.payload).ok()).collect())
    }

    async fn send(&mut self, to: &NodeId, job: &Job) -> anyhow::Result<Sent> {
        if self.run.is_none() {
            let document = job.to_value();
            let run = self.dispatcher.job(to.clone(), document).await?;
            self.run = Some(run);
        }
        match self.run()?.send().await {
            Ok(said) => sent(said),
            Err(err) => {
                tracing::debug!(error = %err, "no answer");
                Ok(Sent::NoAnswer)
            }
        }
    }

    async fn next(&mut self) -> anyhow::Result<Option<Heard>> {
        let Some(seen) = self.run()?.next().await else { return Ok(None) };
        heard(seen).map(Some)
    }

    async fn cancel(&mut self) -> anyhow::Result<()> {
        drop(self.run()?.cancel().await?);
        Ok(())
    }

    async fn acknowledge(&mut self) -> anyhow::Result<()> {
        drop(self.run()?.ack_exit().await?);
        Ok(())
    }
}

fn sent(said: Said) -> anyhow::Result<Sent> {
    Ok(match said {
        Said::Taken => Sent::Taken,
        Said::Ended(seen) => Sent::Ended(Box::new(heard(seen)?)),
        Said::Refused { code, message } => {
            Sent::Refused { code: code.to_string(), message }
        }
        Said::NobodyThere => Sent::NobodyThere,
    })
}

fn heard(seen: FrameSeen) -> anyhow::Result<Heard> {
    let frame = JobFrame::parse(&seen.payload)
        .with_context(|| format!("the node sent a bad `{}`", seen.kind))?;
    Ok(Heard { frame, json: seen.payload, reasons: seen.reasons })
}
