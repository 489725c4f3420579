//! JSON values by what they mean: two are the same if JSON Schema says so,
//! whatever the order of their keys or the spelling of their numbers.
use serde_json::{Map, Number, Value};

/// Whether two values are the same.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    canonical(one) == canonical(other)
}

/// The one text of all values that are the same: keys in order, no spaces, a
/// number without a fraction as an integer.
pub(super) fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, to: &mut String) {
    match value {
        Value::Number(number) => write_number(number, to),
        Value::Array(items) => write_array(items, to),
        Value::Object(map) => write_object(map, to),
        Value::Null | Value::Bool(_) | Value::String(_) => {
            to.push_str(&value.to_string());
        }
    }
}

fn write_number(number: &Number, to: &mut String) {
    // Past these the text of the float is one already: no integer that is
    // read as such is so large.
    const PAST: f64 = 18_446_744_073_709_551_616.0;
    let float = number.as_f64().filter(|_| number.is_f64());
    match float.filter(|x| x.fract() == 0.0 && x.abs() < PAST) {
        Some(whole) => to.push_str(&format!("{:.0}", whole + 0.0)),
        None => to.push_str(&number.to_string()),
    }
}

fn write_array(items: &[Value], to: &mut String) {
    to.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            to.push(',');
        }
        write(item, to);
    }
    to.push(']');
}

fn write_object(map: &Map<String, Value>, to: &mut String) {
    // Sorted here: how a `Map` orders its keys is a feature of serde_json
    // that any crate of the build can turn on.
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    to.push('{');
    for (at, (key, value)) in entries.into_iter().enumerate() {
        if at > 0 {
            to.push(',');
        }
        to.push_str(&Value::from(key.as_str()).to_string());
        to.push(':');
        write(value, to);
    }
    to.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical_of(json: &str) -> String {
        canonical(&serde_json::from_str(json).expect("JSON"))
    }

    #[test]
    fn spelling_and_order_do_not_count() {
        let one = canonical_of(r#"{"b":[1.0,-0.0],"a":1e3,"c":"é"}"#);
        let other = canonical_of(r#"{"c":"\u00e9", "a":1000,"b":[1,0]}"#);
        assert_eq!(one, other);
        assert_eq!(one, r#"{"a":1000,"b":[1,0],"c":"é"}"#);
    }

    #[test]
    fn what_differs_stays_different() {
        for (one, other) in [
            ("9007199254740993", "9007199254740992.0"),
            ("1", "true"),
            ("0.1", "0.10000000000000002"),
            ("1e30", "1e31"),
            ("[1,2]", "[2,1]"),
            ("null", "\"null\""),
        ] {
            assert_ne!(canonical_of(one), canonical_of(other));
        }
    }
}
