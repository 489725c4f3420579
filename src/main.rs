//! The command `ovnode`: see `ovnode --help`.

use ovnode::cli::{self, Exit};
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(std::env::args_os()).unwrap_or_else(|err| {
        eprintln!("ovnode: {err:#}"); // the only place a chain is printed
        Exit::of(&err).into()
    })
}
