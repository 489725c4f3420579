//! With what PID 1 itself exits: never the job's code, which is in the exit
//! record. The engine's inspection shows these where no record says more.

/// The exit record is written.
pub const DONE: u8 = 0;
/// It was not started as PID 1 of a sandbox.
pub const USAGE: u8 = 64;
/// No daemon came to give it orders.
pub const NO_DAEMON: u8 = 70;
/// The job was begun here before; it is never run a second time.
pub const BEGUN_BEFORE: u8 = 71;
/// The record could not be written: what became of the job is not known.
pub const NO_RECORD: u8 = 72;
/// It could not lay down its own privileges.
pub const PRIVILEGED: u8 = 73;
/// The kernel refused it something it cannot do without.
pub const KERNEL: u8 = 74;
