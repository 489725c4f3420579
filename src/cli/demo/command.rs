use super::jobs::{CLASSES, job};
use super::stage::Stage;
use super::told;
use crate::cli::ctx::Ctx;
use crate::cli::exit::{CliError, Exit};
use crate::contract::{
    Clock, JobEvent, JobFrame, NodeId, ResourceOffer, RuntimeClass, Token,
};
use crate::link::client::{Dispatcher, OfferNews, OfferSeen, Run, Sent};
use crate::node::config::Config;
use crate::node::{
    Daemon, DaemonError, SystemClock, dispatcher_config, new_job_id,
};
use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::SignalKind;
use tokio::time::timeout;

/// What `ovnode demo` takes.
#[derive(Debug, Args)]
pub(in crate::cli) struct DemoArgs {}

/// The longest wait for an engine, a probe and an offer together.
const READY: Duration = Duration::from_secs(60);

/// The longest wait for a job of a few seconds.
const DONE: Duration = Duration::from_secs(60);

pub(in crate::cli) fn run(
    _args: &DemoArgs,
    ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    let uid = rustix::process::geteuid();
    if !uid.is_root() {
        let not_root = DaemonError::NotRoot { uid: uid.as_raw() };
        return Err(CliError::Config(not_root.to_string()).into());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the event loop")?;
    let stage = Stage::set()?;
    let config = stage.config(&ctx.sources)?;
    writeln!(ctx.out, "== a NATS server of its own at {}", stage.nats())?;
    let ended = runtime.block_on(show(config, ctx.out));
    drop(stage);
    let well = ended?;
    writeln!(ctx.out, "== everything is gone again")?;
    Ok(if well { Exit::Done } else { Exit::NotWell })
}

async fn show(config: Config, out: &mut dyn Write) -> anyhow::Result<bool> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let me = Token::try_from("demo".to_owned())?;
    let wire = dispatcher_config(&config, me, Arc::clone(&clock));
    let daemon = Daemon::start(config, clock).await?;
    let shown = async {
        let dispatcher = Dispatcher::connect(wire).await?;
        writeln!(out, "== a node starts; what it says of itself:")?;
        let ready = timeout(READY, ready(&dispatcher, out)).await;
        let (node, classes) = ready.context(
            "no class was offered within a minute: `ovnode doctor` says why",
        )??;
        let mut well = true;
        for class in CLASSES.into_iter().filter(|it| classes.contains(it)) {
            writeln!(out, "== a dispatcher sends it a job of class {class}:")?;
            let ran = timeout(DONE, one(&dispatcher, &node, class, out));
            well &= ran.await.context("the job did not end in a minute")??;
        }
        anyhow::Ok(well)
    };
    // Whoever interrupts wants it gone, a running job's sandbox too.
    let shown = tokio::select! {
        shown = shown => shown,
        stopped = interrupted() => Err(stopped),
    };
    daemon.end().await;
    shown
}

/// Waits for an interrupt or TERM.
async fn interrupted() -> anyhow::Error {
    let term = tokio::signal::unix::signal(SignalKind::terminate());
    let Ok(mut term) = term else { return std::future::pending().await };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => anyhow!("interrupted"),
        _ = term.recv() => anyhow!("ended by TERM"),
    }
}

/// Shows offers until one has a class that the demo has a job for.
async fn ready(
    dispatcher: &Dispatcher,
    out: &mut dyn Write,
) -> anyhow::Result<(NodeId, Vec<RuntimeClass>)> {
    let mut offers = dispatcher.offers().await?;
    while let Some(news) = offers.next().await {
        let OfferNews::Said(seen) = news else { continue };
        let offer = read(&seen)?;
        let line = told::offer(&seen.subject, &offer, &seen.reasons);
        writeln!(out, "{line}")?;
        let said = |class: &RuntimeClass| {
            offer.capabilities.contains(&class.capability())
        };
        let classes: Vec<_> = CLASSES.into_iter().filter(said).collect();
        if !classes.is_empty() {
            let node = NodeId::try_from(seen.node().to_owned())?;
            return Ok((node, classes));
        }
    }
    bail!("the connection to NATS ended")
}

fn read(seen: &OfferSeen) -> anyhow::Result<ResourceOffer> {
    ResourceOffer::parse(&seen.payload).context("an offer is not valid")
}

/// Runs one job and shows its story; whether it ended well.
async fn one(
    dispatcher: &Dispatcher,
    node: &NodeId,
    class: RuntimeClass,
    out: &mut dyn Write,
) -> anyhow::Result<bool> {
    let id = new_job_id(SystemClock.now().wall)?;
    let job = job(class, &id);
    let mut run = dispatcher.job(node.clone(), job.clone()).await?;
    writeln!(out, "{}", told::request(node.as_str(), &job))?;
    match run.send().await? {
        Sent::Taken => writeln!(out, "    answer: ack")?,
        other @ (Sent::Ended(_) | Sent::Refused { .. } | Sent::NobodyThere) => {
            bail!("the node did not take it: {other:?}")
        }
    }
    let well = story(&mut run, out).await?;
    run.ack_exit().await?;
    writeln!(out, "    the exit is acknowledged")?;
    Ok(well)
}

async fn story(run: &mut Run, out: &mut dyn Write) -> anyhow::Result<bool> {
    while let Some(seen) = run.next().await {
        let frame = JobFrame::parse(&seen.payload)
            .context("a frame of the node is not valid")?;
        writeln!(out, "{}", told::frame(&seen.kind, &frame))?;
        if matches!(frame.event, JobEvent::Exit(_)) {
            return Ok(seen.exit().is_some_and(|exit| exit.is_well()));
        }
    }
    bail!("the connection to NATS ended")
}
