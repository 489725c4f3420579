//! Sandboxes over the engine of this machine: made, checked against what was
//! asked, ended and removed; and what happens when the engine is not well.
//!
//! Needs a Docker engine, the image `ovnode/function:1` (`workers/build`) and
//! `target/init/ovnode-init` (`make test` builds it).
#![expect(clippy::unwrap_used, reason = "a test ends where it is surprised")]

mod away; // an engine that does not answer, or speaks another version
mod contract; // what the real engine and the fake must both keep
mod sandbox; // what the tests have in common
mod wait; // exit codes, and what cannot start
mod within; // what a sandbox is from inside
