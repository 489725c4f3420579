use super::{At, Read};
use crate::contract::{Fault, FaultKind, Faults};
use serde::Serialize;
use serde_json::Value;
use std::cell::RefCell;

/// Reads a whole document out of text.
pub(in crate::contract) fn text<T: Read>(json: &[u8]) -> Result<T, Faults> {
    let document = serde_json::from_slice(json).map_err(not_json)?;
    value(&document)
}

/// Reads a whole document out of a value.
pub(in crate::contract) fn value<T: Read>(
    document: &Value,
) -> Result<T, Faults> {
    value_with(document, T::read)
}

/// Reads a whole document with `read`.
pub(in crate::contract) fn value_with<T>(
    document: &Value,
    read: impl FnOnce(At<'_>) -> Option<T>,
) -> Result<T, Faults> {
    let faults = RefCell::default();
    let found = read(At::document(document, &faults));
    let faults = faults.into_inner();
    match found {
        Some(found) if faults.is_empty() => Ok(found),
        _ => Err(Faults(faults)),
    }
}

/// Text that is no JSON at all: one fault of the document itself, whose
/// sentence holds line and column.
pub(in crate::contract) fn not_json(err: serde_json::Error) -> Faults {
    let message = format!("is not JSON: {err}");
    let path = String::new();
    Faults(vec![Fault { path, kind: FaultKind::Type, message }])
}

/// A document as JSON, in a buffer made for `expected` bytes and some more.
pub(in crate::contract) fn to_json(
    document: &impl Serialize,
    expected: usize,
) -> Vec<u8> {
    // What a document has beside one great text is seldom more than this.
    const REST: usize = 1024;
    let mut json = Vec::with_capacity(expected + REST);
    // Cannot fail: a Vec takes every byte and every key here is a text.
    drop(serde_json::to_writer(&mut json, document));
    json
}

/// Reads all fields of an object, then makes the struct if none had a
/// fault: `fields!(at => Self { id: need, model: may "type" })`.
macro_rules! fields {
    (
        $at:expr => Self {
            $( $field:ident: $how:ident $($key:literal)? $(($with:expr))? ),+
            $(,)?
        }
    ) => {
        $at.object(|object| {
            $(
                let $field = object.$how(
                    $crate::contract::read::key!($field $($key)?)
                    $(, $with)?
                );
            )+
            Some(Self { $( $field: $field? ),+ })
        })
    };
}

/// A field's key: its own name unless another is said.
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

/// How a whole document is read from text and written as text.
macro_rules! document {
    ($name:ident) => {
        impl $name {
            /// The document that `json` holds.
            ///
            /// # Errors
            /// All its faults; one, if it is not JSON at all.
            pub fn parse(
                json: &[u8],
            ) -> Result<Self, $crate::contract::Faults> {
                $crate::contract::read::text(json)
            }

            /// The document as JSON.
            pub fn to_json(&self) -> Vec<u8> {
                $crate::contract::read::to_json(self, 0)
            }
        }
    };
}

pub(in crate::contract) use {document, fields, key};
