use super::args::{Cli, Command};
use super::ctx::Ctx;
use super::exit::Exit;
use crate::node::config::Sources;
use clap::Parser as _;
use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal as _};
use std::process::ExitCode;

/// Runs what was typed, over this process's own streams.
///
/// # Errors
/// When the command could not be carried out; [`Exit::of`] says which code
/// that is.
pub fn run(
    args: impl IntoIterator<Item = OsString>,
) -> anyhow::Result<ExitCode> {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(answer) => return help_or_usage(&answer),
    };
    let sources = Sources { file: cli.config.clone(), vars: variables() };
    let socket = cli.socket.clone().unwrap_or_else(|| sources.control_socket());
    let mut out = io::stdout().lock();
    let mut ctx = Ctx {
        terminal: io::stdout().is_terminal(),
        out: &mut out,
        err: &mut io::stderr(),
        input: &mut io::stdin().lock(),
        socket,
        sources,
    };
    let done = dispatch(&cli.command, &mut ctx).and_then(|exit| {
        ctx.out.flush()?;
        Ok(exit)
    });
    match done {
        // Whoever read us has seen enough, as `head` does.
        Err(err) if is_broken_pipe(&err) => Ok(Exit::Done.into()),
        done => done.map(ExitCode::from),
    }
}

/// What clap answers instead of arguments: help and version are not errors.
fn help_or_usage(answer: &clap::Error) -> anyhow::Result<ExitCode> {
    answer.print()?;
    let exit = if answer.use_stderr() { Exit::Usage } else { Exit::Done };
    Ok(exit.into())
}

fn dispatch(command: &Command, ctx: &mut Ctx<'_>) -> anyhow::Result<Exit> {
    match command {
        Command::Run(args) => super::run::run(args, ctx),
        Command::Status(args) => super::status::run(args, ctx),
        Command::Jobs(args) => super::jobs::run(args, ctx),
        Command::Job(args) => super::job::run(args, ctx),
        Command::Logs(args) => super::logs::run(args, ctx),
        Command::Offers(args) => super::offers::run(args, ctx),
        Command::Submit(args) => super::submit::run(args, ctx),
        Command::Cancel(args) => super::cancel::run(args, ctx),
        Command::Config(args) => super::config::run(args, ctx),
        Command::Contract(args) => super::contract::run(args, ctx),
        Command::Images(args) => super::images::run(args, ctx),
        Command::Doctor(args) => super::doctor::run(args, ctx),
        Command::Demo(args) => super::demo::run(args, ctx),
    }
}

/// The environment as text; a variable that is none is nobody's of ours.
fn variables() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        })
        .collect()
}

fn is_broken_pipe(err: &anyhow::Error) -> bool {
    err.chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == ErrorKind::BrokenPipe)
}
