//! What PID 1 promises, tried on the binary itself: run as a process of its
//! own, as root, with a record and a daemon that a test plays.
//!
//! Outside a sandbox it signals its own descendants only; what needs a pid
//! namespace is tried where there is a container engine.
mod daemon; // a daemon that goes, comes back, or does not listen
mod ends; // codes, signals, what cannot start
mod family; // orphans, daemons, the deaf
mod limits; // wall, ttl, cpu, output, result
mod privilege; // what a job finds itself to be
mod sandbox; // the harness
mod streams; // stdin, stdout, stderr, fd 3
