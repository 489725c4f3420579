//! One file a subcommand; prints, never decides.
