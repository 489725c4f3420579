//! A whole daemon over the machine's real engine and a real NATS server, one
//! file a promise.
//!
//! Needs a Docker engine, the image `ovnode/function:1` and
//! `target/init/ovnode-init`; `make test` sees to all three.
#![expect(clippy::unwrap_used, reason = "a test ends where it is surprised")]

mod answers; // every refusal, in its order, and nothing left behind
mod away; // no NATS, no engine: it stays up, says so, and comes back
mod demo; // all of it on one machine, and nothing left behind
mod disk; // a disk that runs full, and has room again
mod ends; // each limit, each way to end, and what is said of it
mod garbage; // nothing a dispatcher sends can harm it
mod offers; // what is offered is true, valid, and said at once
mod people; // the commands, over the local socket
mod restart; // what a daemon that died left behind
mod story; // one job's whole life on the wire
mod support;
mod within; // what a job finds, and what it cannot reach
