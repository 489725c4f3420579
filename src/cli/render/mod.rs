//! Documents as text for people: pure functions of document, style and time.
//!
//! Text of others (a dispatcher's, a job's, an image's) is never written as
//! it came: it could hold what moves a terminal's cursor. Everything goes
//! through `escape` on its way to a page.
mod escape; // what a terminal must not see
mod jobs; // jobs, one or many
mod offers; // offers, one or many
mod page; // labelled rows, wrapped to the width
mod quantity; // ages, sizes, shares
mod status; // the one screen
mod style; // width, colour, letters
pub(super) use escape::{Escaper, one_line};
pub(super) use jobs::{is_good, job, jobs};
pub(super) use offers::{OfferView, offers};
pub(super) use quantity::span;
pub(super) use status::status;
pub(super) use style::Style;

#[cfg(test)]
mod tests;
