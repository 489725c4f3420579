//! A small dispatcher: finds a node that has an artifact and a free slot,
//! sends it one job, prints the job's frames and acknowledges its exit.
//!
//! ```text
//! cargo run --example dispatch -- --trust user-owned \
//!     --artifact echo@1.0.0 --class function --args '{"x": 1}'
//! ```
#![expect(clippy::print_stdout, reason = "frames are this program's output")]

use anyhow::{Context, Result, bail};
use clap::Parser;
use ovnode::contract::{Clock, Exit, Now, RuntimeClass, Timestamp, Token};
use ovnode::link::client::{
    Dispatcher, DispatcherConfig, OfferNews, OfferSeen, Run, Sent,
};
use ovnode::link::{LinkAuth, LinkTls};
use serde_json::{Map, Value, json};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Sends one job to a node and prints its frames.
#[derive(Parser)]
struct Args {
    /// Where NATS is; may hold `user:password@`.
    #[arg(long, default_value = "nats://127.0.0.1:4222")]
    server: String,
    /// The first token of every subject.
    #[arg(long, default_value = "ov")]
    prefix: String,
    /// Only nodes of this trust. Without it any but `user-owned`: a person's
    /// own machine is used only where a workload names it.
    #[arg(long)]
    trust: Option<String>,
    /// What to run, `name@version`.
    #[arg(long)]
    artifact: String,
    /// The class that runs it.
    #[arg(long, default_value = "function")]
    class: String,
    /// The job's arguments, a JSON object.
    #[arg(long, default_value = "{}")]
    args: String,
    /// Only this node.
    #[arg(long)]
    node: Option<String>,
    /// Our own name among dispatchers.
    #[arg(long, default_value = "example")]
    dispatcher: String,
}

/// What is wanted, once the arguments are read.
struct Wanted {
    trust: Option<String>,
    node: Option<String>,
    class: RuntimeClass,
    name: String,
    version: String,
    args: Map<String, Value>,
}

struct WallClock;

impl Clock for WallClock {
    fn now(&self) -> Now {
        let ms = jiff::Timestamp::now().as_millisecond();
        let wall = Timestamp(u64::try_from(ms).unwrap_or_default());
        Now { wall, ..Now::default() }
    }
}

/// The longest that a fitting offer is waited for: three intervals.
const FIND: Duration = Duration::from_secs(30);

/// How long the job may take in all, from when the node receives it.
const TTL: Duration = Duration::from_secs(60);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let wanted = wanted(&args)?;
    let dispatcher = connect(&args).await?;
    let exit = dispatch(&dispatcher, &wanted).await?;
    let well = exit.is_well();
    eprintln!("{}: code {:?}", exit.reason, exit.code);
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn wanted(args: &Args) -> Result<Wanted> {
    let (name, version) = args
        .artifact
        .split_once('@')
        .context("an artifact is written name@version")?;
    Ok(Wanted {
        trust: args.trust.clone(),
        node: args.node.clone(),
        class: RuntimeClass::from_name(&args.class).context("no such class")?,
        name: name.to_owned(),
        version: version.to_owned(),
        args: serde_json::from_str(&args.args)
            .context("the job's arguments are no JSON object")?,
    })
}

async fn connect(args: &Args) -> Result<Dispatcher> {
    let config = DispatcherConfig {
        servers: vec![args.server.clone()],
        auth: LinkAuth::None,
        tls: LinkTls::default(),
        prefix: Token::try_from(args.prefix.clone())?,
        inbox_prefix: None,
        dispatcher: Token::try_from(args.dispatcher.clone())?,
        clock: Arc::new(WallClock),
        offers_every: Duration::from_secs(10),
        answer_within: Duration::from_secs(5),
    };
    Ok(Dispatcher::connect(config).await?)
}

/// Goes from offer to offer until one node takes the job.
async fn dispatch(dispatcher: &Dispatcher, wanted: &Wanted) -> Result<Exit> {
    let mut offers = dispatcher.offers().await?;
    let until = Instant::now() + FIND;
    loop {
        let Ok(news) = timeout_at(until, offers.next()).await else {
            bail!(
                "no node offers what is wanted (people's machines: --trust \
                 user-owned)"
            );
        };
        let offer = match news.context("the connection has ended")? {
            OfferNews::Said(offer) if fits(&offer, wanted) => offer,
            OfferNews::Said(_) | OfferNews::Gone(_) => continue,
        };
        let node = Token::try_from(offer.node().to_owned())?;
        if has_artifact(dispatcher, &node, wanted).await {
            let run = dispatcher.job(node, job(wanted)).await?;
            eprintln!("{} at node {}", run.id(), offer.node());
            if let Some(exit) = attempt(run).await? {
                return Ok(exit);
            }
        }
    }
}

/// Whether an offer is one for us: trust, node, health and a free slot.
fn fits(offer: &OfferSeen, wanted: &Wanted) -> bool {
    let trusted = match &wanted.trust {
        Some(trust) => offer.trust() == trust,
        None => offer.trust() != "user-owned",
    };
    let named = wanted.node.as_ref().is_none_or(|node| offer.node() == node);
    let Some(view) = offer.view() else { return false };
    let class = wanted.class;
    let free = view.free.get(class.as_str()).is_some_and(|free| *free > 0);
    let able = format!("worker:{class}");
    let able = view.capabilities.contains(&able);
    trusted && named && view.status == "up" && free && able
}

async fn has_artifact(
    dispatcher: &Dispatcher,
    node: &Token,
    wanted: &Wanted,
) -> bool {
    match dispatcher.artifacts(node).await {
        Ok(artifacts) => artifacts.iter().any(|artifact| {
            artifact.ready
                && artifact.name == wanted.name
                && artifact.version == wanted.version
                && artifact.class == wanted.class.as_str()
        }),
        Err(err) => {
            eprintln!("{err:#}");
            false
        }
    }
}

/// The job; its id is minted now, as its first half is the moment of that.
fn job(wanted: &Wanted) -> Value {
    let ttl_ms = u64::try_from(TTL.as_millis()).unwrap_or(u64::MAX);
    json!({
        "id": format!("job_{}", ulid::Ulid::generate()),
        "class": wanted.class,
        "artifact": {"name": wanted.name, "version": wanted.version},
        "args": wanted.args,
        "ttl_ms": ttl_ms,
        "limits": {
            "wall_ms": 30_000, "cpu_ms": 30_000, "mem_bytes": 64 << 20,
        },
    })
}

/// Sends the job and follows it to its end; `None` when the node did not run
/// it, so that another may.
async fn attempt(mut run: Run) -> Result<Option<Exit>> {
    let exit = match send(&run).await? {
        Sent::Taken => follow(&mut run).await?,
        Sent::Ended(seen) => {
            println!("exit {}", String::from_utf8_lossy(&seen.payload));
            seen.exit().context("the exit cannot be read")?
        }
        Sent::Refused { code, message } => {
            eprintln!("refused: {code}: {message}");
            return Ok(None);
        }
        Sent::NobodyThere => return Ok(None),
    };
    run.ack_exit().await.context("the node will say the exit again")?;
    Ok(Some(exit))
}

/// Sends the job until the node's answer is known. Once an answer was lost
/// only the same node may be asked again, as the job may run there.
async fn send(run: &Run) -> Result<Sent> {
    for attempt in 0..3 {
        match run.send().await {
            Ok(Sent::Refused { code, message }) if attempt > 0 => {
                bail!("nobody knows whether it ran: {code}: {message}");
            }
            Ok(sent) => return Ok(sent),
            Err(err) => eprintln!("{err:#}"),
        }
    }
    run.cancel().await.context("nobody knows whether it runs")?;
    bail!("cancelled: the node did not answer in time")
}

/// Prints the job's frames up to its exit.
async fn follow(run: &mut Run) -> Result<Exit> {
    // Past its ttl and a minute, a job without an exit is dead for good.
    let until = Instant::now() + TTL + Duration::from_secs(60);
    loop {
        let frame = timeout_at(until, run.next()).await;
        let frame = frame.context("the job is dead: no exit came")?;
        let frame = frame.context("the connection has ended")?;
        let text = String::from_utf8_lossy(&frame.payload);
        println!("{} {text}", frame.kind);
        for reason in &frame.reasons {
            eprintln!("reason: {reason}");
        }
        if frame.kind == "exit" {
            return frame.exit().context("the exit cannot be read");
        }
    }
}
