//! How every document is read: one walk over a JSON value that gathers all
//! faults, each with where it stands, and gives a value only if the part it
//! was made of had none.
//!
//! Numbers follow JSON Schema: a number without a fraction is an integer
//! however it is written (`1.0`, `1e3`), and one too large for its type is
//! the type's greatest. Beyond the schemas only what `serde_json` refuses
//! as text is refused: a number over 1.8e308, a lone surrogate, nesting over
//! 128 levels.
mod at; // one value, where it stands, and where its faults go
mod document; // a whole document, from text and to text
mod object; // the keys of an object
mod values; // texts, numbers, arrays and maps
pub(in crate::contract) use at::{At, Read};
pub(in crate::contract) use document::{
    document, fields, key, not_json, text, to_json, value, value_with,
};
pub(in crate::contract) use object::Object;
pub(in crate::contract) use values::one_or_more;
