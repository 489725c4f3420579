//! The dispatcher's side of the wire.
