use super::ask;
use super::ctx::Ctx;
use super::exit::Exit;
use super::lines::Lines;
use super::render::{self, OfferView, Style};
use crate::control::Payload;

/// Show what this node offers, as it was last published.
#[derive(Debug, clap::Args)]
pub(super) struct OffersArgs {
    /// Go on with each offer as it is published
    #[arg(long)]
    watch: bool,
    /// Print the documents (with --watch: one a line)
    #[arg(long)]
    json: bool,
}

pub(super) fn run(
    args: &OffersArgs,
    ctx: &mut Ctx<'_>,
) -> anyhow::Result<Exit> {
    let ended = ask::block_on(async {
        if args.watch { watch(args, ctx).await } else { show(args, ctx).await }
    })?;
    ask::settle(ended)
}

async fn show(args: &OffersArgs, ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    let answer: Payload = ask::daemon(ctx).get("/v1/offers").await?;
    if args.json {
        ctx.out.write_all(&answer)?;
        writeln!(ctx.out)?;
        return Ok(Exit::Done);
    }
    let of: Vec<OfferView> = ask::document(&answer)?;
    let style = Style::of_stdout(ctx.terminal);
    write!(ctx.out, "{}", render::offers(&of, style))?;
    Ok(Exit::Done)
}

async fn watch(args: &OffersArgs, ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    let mut stream = ask::daemon(ctx).stream("/v1/offers?follow=1").await?;
    let mut lines = Lines::default();
    while let Some(piece) = stream.next().await? {
        for line in lines.push(&piece) {
            if args.json {
                ctx.out.write_all(&line)?;
                writeln!(ctx.out)?;
            } else {
                let style = Style::of_stdout(ctx.terminal);
                let of = OfferView::read(&line)?;
                write!(ctx.out, "{}", render::offers(&[of], style))?;
            }
        }
        ctx.out.flush()?;
    }
    Ok(Exit::Done)
}
