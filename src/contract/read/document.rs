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

#[cfg(test)]
mod tests {
    use crate::contract::{Fault, FaultKind, validate};

    fn faults(name: &str, json: &str) -> Vec<Fault> {
        validate(name, json).expect_err("a document with faults").0
    }

    fn places(faults: &[Fault]) -> Vec<(&str, FaultKind)> {
        faults.iter().map(|fault| (fault.path.as_str(), fault.kind)).collect()
    }

    #[test]
    fn all_faults_are_told_each_with_its_place() {
        let json = r#"{
            "id": 7, "transports": ["http", "ftp", "http"], "regions": [],
            "edge": "no", "price_per_gb_usd": -1, "a/b~c": 1,
            "cache_rules": {"ttl_seconds": 1.5, "max_object_mb": true}
        }"#;
        assert_eq!(
            places(&faults("delivery-offer", json)),
            [
                ("/id", FaultKind::Type),
                ("/transports/1", FaultKind::Value),
                ("/regions", FaultKind::Value),
                ("/edge", FaultKind::Type),
                ("/price_per_gb_usd", FaultKind::Value),
                ("/price_per_request_usd", FaultKind::Missing),
                ("/cache_rules/enabled", FaultKind::Missing),
                ("/cache_rules/ttl_seconds", FaultKind::Type),
                ("/cache_rules/max_object_mb", FaultKind::Type),
                ("/a~1b~0c", FaultKind::UnknownKey),
            ]
        );
    }

    #[test]
    fn what_is_not_json_is_one_fault_with_line_and_column() {
        let found = faults("runtime-class", "\"gpu\"\nx");
        assert_eq!(places(&found), [("", FaultKind::Type)]);
        let said = found[0].to_string();
        assert_eq!(
            said,
            "the document is not JSON: trailing characters at line 2 column 1"
        );
    }

    #[test]
    fn a_sentence_says_what_is_there_and_what_must_be() {
        let found = faults("runtime-class", "\"gpus\"");
        assert_eq!(
            found[0].message,
            "must be one of `function`, `code`, `browser`, `linux`, \
             `desktop`, `gpu`, and is `gpus`"
        );
        let found = faults("runtime-class", &format!("\"{:é>999}\"", ""));
        assert!(found[0].message.len() < 300, "{}", found[0].message);
    }

    #[test]
    fn a_contract_that_is_none_is_named() {
        let found = faults("job.v1.json", "{}");
        assert!(found[0].message.contains("`job.v1.json`"));
    }
}
