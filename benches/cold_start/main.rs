//! What isolation and delivery cost: a cold `function` job, from its request
//! to the first byte of its output, over the engine's own create, attach,
//! start and first byte. Both are measured in turns in one run, so that what
//! counts, their ratio, does not depend on the machine: 1.25 at most, 1.05
//! is the aim.
//!
//! Needs root, a Docker engine, the image `ovnode/function:1` and
//! `target/init/ovnode-init`; `make bench` sees to all four. More pairs:
//! `cargo bench --bench cold_start -- --pairs 50`.
#![expect(clippy::unwrap_used, reason = "the tests' own daemon is used here")]

mod engine; // B: the engine alone
mod figures; // medians and spreads
mod node; // A: a whole node
#[path = "../../tests/node/support/mod.rs"]
#[expect(dead_code, reason = "the tests of the node need more of it")]
mod support;

use engine::{Bare, BareTimes};
use figures::Figures;
use node::{Node, NodeTimes};
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

/// What both sides run.
const IMAGE: &str = "ovnode/function:1";
/// Pairs that are not counted: the first of each fills caches.
const WARM_UPS: usize = 2;
/// Enough for a median that says the same twice; a minute at most.
const PAIRS: usize = 15;
/// Before each measurement. The engine still tidies up after its answer that
/// a container is gone, which is nothing that the next one should pay for.
const QUIET: Duration = Duration::from_millis(150);

type Fallible<T> = Result<T, Box<dyn Error>>;

/// One start of each kind.
struct Pair {
    node: NodeTimes,
    bare: BareTimes,
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = tokio::select! {
        done = bench() => done,
        _ = tokio::signal::ctrl_c() => Err("interrupted".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("cold_start: {fault}");
            ExitCode::FAILURE
        }
    }
}

async fn bench() -> Fallible<()> {
    let pairs = wanted(std::env::args().skip(1))?;
    if !rustix::process::geteuid().is_root() {
        return Err("a node needs root, and so does this bench".into());
    }
    let bare = Bare::connect()?;
    let machine = bare.machine().await?;
    let node = Node::start().await?;
    let mut measured = Vec::new();
    for nth in 0..WARM_UPS + pairs {
        let pair = pair(&node, &bare, nth % 2 == 0).await?;
        if nth >= WARM_UPS {
            measured.push(pair);
        }
    }
    node.stop();
    tell(&machine, &measured);
    Ok(())
}

/// Cargo's own `--bench` is passed over.
fn wanted(mut args: impl Iterator<Item = String>) -> Fallible<usize> {
    while let Some(arg) = args.next() {
        if arg == "--pairs" {
            let said = args.next().ok_or("--pairs wants a number")?;
            let pairs: usize =
                said.parse().map_err(|_| "--pairs wants a number")?;
            return Ok(pairs.max(1));
        }
    }
    Ok(PAIRS)
}

/// Who goes first alternates, so that neither always finds the other's
/// traces.
async fn pair(node: &Node, bare: &Bare, node_first: bool) -> Fallible<Pair> {
    let node_times = async || {
        tokio::time::sleep(QUIET).await;
        node.cold_job().await
    };
    let bare_times = async || {
        tokio::time::sleep(QUIET).await;
        bare.cold_start().await
    };
    if node_first {
        let node = node_times().await?;
        Ok(Pair { node, bare: bare_times().await? })
    } else {
        let bare = bare_times().await?;
        Ok(Pair { node: node_times().await?, bare })
    }
}

#[expect(clippy::print_stdout, reason = "numbers are what a bench is for")]
fn tell(machine: &str, pairs: &[Pair]) {
    println!("cold start of a `function` job, {} pairs; ms", pairs.len());
    println!("{machine}\n");
    println!("{:34} {:>8} {:>8} {:>8}", "", "p10", "median", "p90");
    let span = |name: &str, of: &dyn Fn(&Pair) -> Duration| {
        let ms = pairs.iter().map(|pair| of(pair).as_secs_f64() * 1e3);
        println!("{name:34} {:.1}", Figures::of(ms));
    };
    span("engine: create and attach", &|pair| pair.bare.made);
    span("engine: to its start's answer", &|pair| pair.bare.started);
    span("engine: to the first byte", &|pair| pair.bare.first_byte);
    span("ovnode: request to ack", &|pair| pair.node.ack);
    span("ovnode: request to exec", &|pair| pair.node.exec);
    span("ovnode: request to job_started", &|pair| pair.node.started);
    span("ovnode: request to first job_stdout", &|pair| pair.node.first_byte);
    let ratio = |pair: &Pair| {
        let (node, bare) = (pair.node.first_byte, pair.bare.first_byte);
        node.as_secs_f64() / bare.as_secs_f64()
    };
    let ratios = Figures::of(pairs.iter().map(ratio));
    println!("{:34} {ratios:.3}", "ratio, ovnode / engine, by pairs");
}
