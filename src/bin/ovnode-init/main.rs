//! PID 1 of a sandbox: runs one job, once, and leaves a record of it.
//!
//! It holds next to nothing (no capability but those that change a user and
//! signal it, no path but the record), since what runs beside it is hostile.
//! It keeps every deadline alone: no daemon need be there between the orders
//! and the exit record.
mod await_orders; // the time before the orders
mod cgroup; // what the kernel counted of the sandbox
mod clock; // the two clocks, as durations
mod course; // how a job is brought to its end: pure
mod cpu_watch; // when to look at the CPU next, and whether it is used up
mod descriptor; // what an exec would hand on
mod fault; // why PID 1 itself gives up
mod flow; // what goes in and out of the job
mod format; // whether a file can be executed here: pure
mod launch; // stage one: from orders to a process
mod link; // the socket to the daemon
mod place; // where it runs, and as what
mod poll; // waiting for one of many
mod privilege; // laid down in stage one, checked in stage two
mod program; // from argv[0] to a file
mod reach; // whom a signal reaches
mod reaper; // every dead process, at once
mod record; // the durable facts
mod ring; // a stream's bytes on disk
mod run; // the loop, while there is a job
mod sinks; // where the job's bytes go, and how many may
mod stage_two; // the job's side before it is the job
mod stream; // a pipe, read up to whole characters
mod supervise; // a sandbox's life
mod tell; // what the daemon hears of stdout
mod ttl; // an alarm that rings after the machine's sleep, too
mod verdict; // the exit record

use fault::Fault;
use place::Role;
use std::process::ExitCode;

fn main() -> ExitCode {
    match place::role(std::env::args_os().skip(1)) {
        Ok(Role::StageTwo) => stage_two::run(),
        Ok(Role::Supervise(place)) => match supervise::run(&place) {
            Ok(()) => ExitCode::SUCCESS,
            Err(fault) => fail(&fault),
        },
        Err(fault) => fail(&fault),
    }
}

fn fail(fault: &Fault) -> ExitCode {
    eprintln!("ovnode-init: {fault}");
    fault.code().into()
}
