use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Offers what this machine can run over NATS, and runs jobs in containers.
#[derive(Debug, Parser)]
#[command(name = "ovnode", version)]
pub(super) struct Cli {
    /// The configuration [default: /etc/ovnode/node.toml if it is there]
    #[arg(long, global = true, env = "OVNODE_CONFIG", value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// The daemon's socket [default: as configured]
    #[arg(long, global = true, value_name = "PATH")]
    pub(super) socket: Option<PathBuf>,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// One variant a file of this folder.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the daemon in the foreground
    Run(super::run::RunArgs),
    /// Say how the node is and what it does
    Status(super::status::StatusArgs),
    /// List the jobs of this node
    Jobs(super::jobs::JobsArgs),
    /// Say everything about one job
    Job(super::job::JobArgs),
    /// Print the kept output of a job
    Logs(super::logs::LogsArgs),
    /// Show what this node offers
    Offers(super::offers::OffersArgs),
    /// Send one job and print its frames until it ends
    Submit(super::submit::SubmitArgs),
    /// Cancel a job of this node
    Cancel(super::cancel::CancelArgs),
    /// Write, check or show the configuration
    Config(super::config::ConfigArgs),
    /// Check documents against the platform's contracts
    Contract(super::contract::ContractArgs),
    /// Build and list the images that jobs run in
    Images(super::images::ImagesArgs),
    /// Find what is wrong with this machine, and what mends it
    Doctor(super::doctor::DoctorArgs),
    /// Bring up a node and its own NATS server, and run a job of each class
    Demo(super::demo::DemoArgs),
}
