//! What this node promised and what became of it.
//!
//! Whatever can be seen from outside is written here first. In memory for
//! now: the floor is the daemon's start, so ids older than that are refused
//! and none can be run a second time by a daemon that forgot it.
