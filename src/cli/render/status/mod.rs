//! `ovnode status`: one screen that answers whether the node is well, what
//! it does, and why it gets no work.
mod capacity; // bars of what is free
mod screen; // all of it, top to bottom
pub(in crate::cli) use screen::status;
