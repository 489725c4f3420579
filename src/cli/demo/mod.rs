//! `ovnode demo`: a node, its own NATS server and one job of each class, all
//! on this machine, all gone afterwards.
mod command; // from bringing up to taking down
mod jobs; // one job of each class
mod stage; // a folder, a server and a configuration of its own
mod told; // what passes over the wire, as lines
pub(super) use command::{DemoArgs, run};
