//! The command `ovnode`: see `ovnode --help`.

fn main() {}
