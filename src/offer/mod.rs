//! What a node says about itself, and when it says it.
//!
//! One snapshot makes all offers of a moment; the times of publishing are
//! decided by a pure function.
