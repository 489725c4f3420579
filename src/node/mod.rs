//! The daemon: config read once and parsed into choices, then built, run
//! and drained.
