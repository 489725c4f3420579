use super::command::SubmitArgs;
use super::notes::Story;
use super::pick::{Wanted, allow, pick};
use super::wire::{Heard, Sent, Wire};
use crate::cli::ctx::Ctx;
use crate::cli::exit::{CliError, Exit};
use crate::cli::render::one_line;
use crate::contract::{Job, NodeId};
use anyhow::{Context as _, anyhow};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

/// What a node may need beyond a job's time to live to say how it ended;
/// later no exit comes.
const LAST_WORD: Duration = Duration::from_secs(60);

/// How often a job without an answer is sent to its node: one lost message
/// is bad luck, three are an outage.
const ATTEMPTS: u32 = 3;

/// From the document to the job's fate.
pub(super) async fn submit(
    args: &SubmitArgs,
    mut document: Value,
    wire: &mut impl Wire,
    ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    give_id(&mut document, wire)?;
    let job = match wire.check(&document) {
        Ok(job) => job,
        Err(faults) => {
            let all: Vec<_> =
                faults.0.iter().map(|f| one_line(&f.to_string())).collect();
            return Err(anyhow!("not a job: {}", all.join("; ")));
        }
    };
    let node = choose(args, &job, wire, ctx).await?;
    let session = Session { json: args.json, job, node };
    match session.send(wire).await? {
        Some(heard) => session.end(&heard, wire, ctx).await,
        None => {
            note(ctx, &format!("{} sent to {}", session.job.id, session.node))?;
            session.follow(wire, ctx).await
        }
    }
}

/// An id for a document that has none; another is left for the check.
fn give_id(document: &mut Value, wire: &mut impl Wire) -> anyhow::Result<()> {
    let Some(job) = document.as_object_mut() else { return Ok(()) };
    if job.get("id").is_none_or(|id| id == "new") {
        job.insert("id".to_owned(), Value::String(wire.mint()?.into()));
    }
    Ok(())
}

async fn choose(
    args: &SubmitArgs,
    job: &Job,
    wire: &mut impl Wire,
    ctx: &mut Ctx<'_>,
) -> anyhow::Result<NodeId> {
    let trust = args.trust.as_deref();
    // Whoever names node and trust has decided: nothing need be heard.
    if let (Some(node), Some(_)) = (&args.node, trust) {
        return Ok(node.clone());
    }
    let wait = Duration::from_secs(args.wait);
    let until = Instant::now() + wait;
    let mut waited = false;
    loop {
        let heard = wire.offers().await?;
        let choice = match &args.node {
            Some(node) => allow(&heard, node).map(|()| node.clone()),
            None => pick(&heard, Wanted { class: job.class, trust }),
        };
        match choice {
            Ok(node) => return Ok(node),
            Err(none) if Instant::now() >= until => return Err(none.into()),
            Err(_not_yet) if waited => {}
            Err(_not_yet) => {
                waited = true;
                let most = args.wait;
                note(ctx, &format!("waiting for an offer, {most} s at most"))?;
            }
        }
    }
}

/// One job at one node.
struct Session {
    json: bool,
    job: Job,
    node: NodeId,
}

enum Happened {
    Heard(Option<Box<Heard>>),
    Interrupted,
    Silence,
}

impl Session {
    /// Sends the job until there is an answer: its exit, if it has ended.
    async fn send(
        &self,
        wire: &mut impl Wire,
    ) -> anyhow::Result<Option<Heard>> {
        let (id, node) = (&self.job.id, &self.node);
        for _ in 0..ATTEMPTS {
            match wire.send(node, &self.job).await? {
                Sent::NoAnswer => {}
                Sent::Taken => return Ok(None),
                Sent::Ended(heard) => return Ok(Some(*heard)),
                Sent::Refused { code, message } => {
                    let why = one_line(&format!("{code}: {message}"));
                    return Err(anyhow!("{node} refuses the job: {why}"));
                }
                Sent::NobodyThere => {
                    let text = format!("no node {node} is there; not run");
                    return Err(CliError::Unavailable(text).into());
                }
            }
        }
        let text = format!(
            "{node} does not answer: whether the job runs is not known; send \
             it again as {id}, and to this node only"
        );
        Err(CliError::Unavailable(text).into())
    }

    /// Prints the job's story until its end.
    async fn follow(
        &self,
        wire: &mut impl Wire,
        ctx: &mut Ctx<'_>,
    ) -> anyhow::Result<Exit> {
        let mut story = Story::default();
        let dead = tokio::time::sleep(self.job.ttl.saturating_add(LAST_WORD));
        let mut dead = std::pin::pin!(dead);
        loop {
            let happened = tokio::select! {
                heard = wire.next() => Happened::Heard(heard?.map(Box::new)),
                interrupt = tokio::signal::ctrl_c() => {
                    interrupt.context("cannot wait for an interrupt")?;
                    Happened::Interrupted
                }
                () = &mut dead => Happened::Silence,
            };
            match happened {
                Happened::Heard(Some(heard)) => {
                    if let Some(fate) = self.print(&mut story, &heard, ctx)? {
                        wire.acknowledge().await?;
                        return Ok(fate);
                    }
                }
                Happened::Heard(None) => {
                    let text = "the connection to NATS has ended".to_owned();
                    return Err(CliError::Unavailable(text).into());
                }
                Happened::Interrupted => {
                    note(ctx, "interrupted: asks the node to end the job")?;
                    wire.cancel().await?;
                }
                Happened::Silence => return Err(self.given_up()),
            }
        }
    }

    /// A job that had ended before it was sent.
    async fn end(
        &self,
        heard: &Heard,
        wire: &mut impl Wire,
        ctx: &mut Ctx<'_>,
    ) -> anyhow::Result<Exit> {
        note(ctx, &format!("{} has ended before", self.job.id))?;
        let fate = self.print(&mut Story::default(), heard, ctx)?;
        wire.acknowledge().await?;
        fate.ok_or_else(|| anyhow!("{} says no exit of it", self.node))
    }

    fn print(
        &self,
        story: &mut Story,
        heard: &Heard,
        ctx: &mut Ctx<'_>,
    ) -> anyhow::Result<Option<Exit>> {
        let Some(said) = story.hear(heard) else { return Ok(None) };
        if self.json {
            ctx.out.write_all(&heard.json)?;
            writeln!(ctx.out)?;
        } else {
            ctx.out.write_all(said.output.as_bytes())?;
        }
        ctx.out.flush()?;
        for text in &said.notes {
            note(ctx, text)?;
        }
        Ok(said.fate)
    }

    fn given_up(&self) -> anyhow::Error {
        anyhow!(
            "no exit came in the job's time to live and a minute: it is dead, \
             and {} must not be used again",
            self.job.id
        )
    }
}

fn note(ctx: &mut Ctx<'_>, text: &str) -> anyhow::Result<()> {
    Ok(writeln!(ctx.err, "  {text}")?)
}
