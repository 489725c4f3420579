//! The record of a sandbox, from the host's side: the folder in which PID 1
//! and the daemon leave each other what must outlive either.
//!
//! Formats are `init`'s. The folder is root's alone (0700); it is mounted in
//! the sandbox, where only PID 1 can reach it. What lies there is read with
//! bounds and told apart: not there yet, or not what it should be.
mod durable; // written so that a crash leaves the old or the new
mod folder; // the folder, made, found again and removed
mod line; // what passes over the socket
mod ring; // kept output
#[cfg(test)]
mod tests;
pub use folder::{Record, RingSizes};
pub use line::Line;
pub use ring::{RingRead, RingReader};
