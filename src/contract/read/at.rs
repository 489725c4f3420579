use super::Object;
use crate::contract::{Fault, FaultKind};
use serde_json::{Map, Value};
use std::cell::RefCell;

/// A part of a document that can be read from a JSON value.
pub(in crate::contract) trait Read: Sized {
    /// The value, or `None` after its faults were told to `at`.
    fn read(at: At<'_>) -> Option<Self>;
}

/// One value of a document, where it stands, and where its faults go.
#[derive(Clone, Copy)]
pub(in crate::contract) struct At<'a> {
    value: &'a Value,
    path: Path<'a>,
    faults: &'a RefCell<Vec<Fault>>,
}

/// The way from the document to a value, written out only for a fault.
#[derive(Clone, Copy)]
enum Path<'a> {
    Document,
    Key(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl<'a> At<'a> {
    /// The value itself.
    pub(in crate::contract) fn value(self) -> &'a Value {
        self.value
    }

    /// The whole document.
    pub(super) fn document(
        value: &'a Value,
        faults: &'a RefCell<Vec<Fault>>,
    ) -> Self {
        Self { value, path: Path::Document, faults }
    }

    /// The value at one key of this one.
    pub(super) fn key(&'a self, key: &'a str, value: &'a Value) -> Self {
        At { value, path: Path::Key(&self.path, key), faults: self.faults }
    }

    /// Tells one fault of this value.
    pub(in crate::contract) fn fault(self, kind: FaultKind, message: String) {
        let mut path = String::new();
        self.path.write(&mut path);
        self.faults.borrow_mut().push(Fault { path, kind, message });
    }

    /// Tells a fault of one key of this value, there or not.
    pub(super) fn fault_of(self, key: &str, kind: FaultKind, message: String) {
        let path = Path::Key(&self.path, key);
        At { path, ..self }.fault(kind, message);
    }

    /// Tells that an object lacks a key.
    pub(in crate::contract) fn miss(self, key: &str) {
        self.fault_of(key, FaultKind::Missing, "is missing".to_owned());
    }

    /// Tells that the value is not allowed; `wanted` completes "must be …".
    pub(in crate::contract) fn refuse<T>(self, wanted: &str) -> Option<T> {
        let is = excerpt(self.value);
        let message = format!("must be {wanted}, and is {is}");
        self.fault(FaultKind::Value, message);
        None
    }

    /// Tells that the value has another type; `wanted` completes
    /// "must be …".
    pub(super) fn wrong_type<T>(self, wanted: &str) -> Option<T> {
        let message =
            format!("must be {wanted}, and is {}", type_name(self.value));
        self.fault(FaultKind::Type, message);
        None
    }

    /// A text.
    pub(in crate::contract) fn str(self) -> Option<&'a str> {
        self.value.as_str().or_else(|| self.wrong_type("a string"))
    }

    /// A text that `check` accepts; `wanted` says which those are.
    pub(in crate::contract) fn form(
        self,
        check: impl FnOnce(&str) -> bool,
        wanted: &str,
    ) -> Option<String> {
        let text = self.str()?;
        if check(text) { Some(text.to_owned()) } else { self.refuse(wanted) }
    }

    /// One of a closed list of words.
    pub(in crate::contract) fn word<T>(
        self,
        words: &[&str],
        from_name: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        from_name(self.str()?).or_else(|| {
            self.refuse(&format!("one of `{}`", words.join("`, `")))
        })
    }

    /// An object, read by `read`; whatever key `read` did not ask for is a
    /// fault.
    pub(in crate::contract) fn object<T>(
        self,
        read: impl FnOnce(&mut Object<'a>) -> Option<T>,
    ) -> Option<T> {
        let mut object = Object::new(self, self.map()?);
        let found = read(&mut object);
        object.refuse_unknown();
        found
    }

    /// An object of any keys.
    pub(in crate::contract) fn map(self) -> Option<&'a Map<String, Value>> {
        self.value.as_object().or_else(|| self.wrong_type("an object"))
    }

    /// An integer that is at least `least`, saturated.
    pub(in crate::contract) fn integer(self, least: i128) -> Option<i128> {
        let Some(n) = integer(self.value) else {
            return self.wrong_type("an integer");
        };
        if n >= least {
            Some(n)
        } else {
            self.refuse(&format!("at least {least}"))
        }
    }

    /// An integer from `least` up, saturated.
    pub(in crate::contract) fn count(self, least: u32) -> Option<u64> {
        let n = self.integer(i128::from(least))?;
        Some(u64::try_from(n).unwrap_or(u64::MAX))
    }

    /// A number from 0 up, and up to `greatest` if there is such.
    pub(in crate::contract) fn number(
        self,
        greatest: Option<f64>,
    ) -> Option<f64> {
        // Never `None` for a number: the feature for larger ones is off.
        let Some(x) = self.value.as_f64() else {
            return self.wrong_type("a number");
        };
        match greatest {
            _ if x < 0.0 => self.refuse("at least 0"),
            Some(top) if x > top => self.refuse(&format!("at most {top}")),
            Some(_) | None => Some(x),
        }
    }

    /// Each item of an array; all are read before one counts as missing.
    pub(in crate::contract) fn items<T>(
        self,
        mut read: impl FnMut(At<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Some(items) = self.value.as_array() else {
            return self.wrong_type("an array");
        };
        let mut all = Some(Vec::with_capacity(items.len()));
        for (index, value) in items.iter().enumerate() {
            let path = Path::Item(&self.path, index);
            let item = read(At { value, path, ..self });
            all = all.zip(item).map(|(mut all, item)| {
                all.push(item);
                all
            });
        }
        all
    }
}

impl Path<'_> {
    /// The JSON pointer (RFC 6901).
    fn write(&self, to: &mut String) {
        match self {
            Self::Document => {}
            Self::Key(up, key) => {
                up.write(to);
                to.push('/');
                to.push_str(&key.replace('~', "~0").replace('/', "~1"));
            }
            Self::Item(up, index) => {
                up.write(to);
                to.push_str(&format!("/{index}"));
            }
        }
    }
}

/// The integer that a number is, if it is one; saturated.
fn integer(value: &Value) -> Option<i128> {
    let Value::Number(n) = value else { return None };
    if let Some(n) = n.as_u64() {
        return Some(n.into());
    }
    if let Some(n) = n.as_i64() {
        return Some(n.into());
    }
    let x = n.as_f64().filter(|x| x.fract() == 0.0)?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float cast saturates, which is what is wanted"
    )]
    Some(x as i128)
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(n) if n.is_f64() => "a number",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// What a value is, short enough for a sentence.
fn excerpt(value: &Value) -> String {
    // Long enough for any id of the contracts.
    const MOST: usize = 80;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => type_name(value).to_owned(),
        Value::String(text) => match text.char_indices().nth(MOST) {
            None => format!("`{text}`"),
            Some((cut, _)) => format!("`{}…`", &text[..cut]),
        },
    }
}
