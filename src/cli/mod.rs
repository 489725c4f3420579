//! People: one file a subcommand, which prints and never decides.
//!
//! A command writes to the `Ctx` that it is handed and answers
//! with an [`Exit`]; an error it returns is printed once, by `main`, in one
//! line that says what to do next.
mod args; // what can be typed
mod ask; // questions to the daemon, and what their failures mean
mod cancel;
mod config;
mod contract;
mod ctx; // where a command prints, and whom it asks
mod demo;
mod doctor; // what is wrong with this machine, and what mends it
mod entry; // from arguments to an exit code
mod exit; // what the exit codes mean
mod images;
mod job;
mod jobs;
mod lines; // documents out of a stream
mod logs;
mod offers;
mod render; // documents as text for people
mod run;
mod status;
mod submit;
pub use entry::run;
pub use exit::{CliError, Exit};
