use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

/// Deepest nesting of a result: what every reader of JSON can follow.
const DEPTH: usize = 64;

/// What a job wrote to fd 3: one JSON value, or nothing (which is null).
///
/// # Errors
/// A sentence that says what it was instead.
pub(crate) fn parse(written: &[u8]) -> Result<Value, String> {
    if written.is_empty() {
        return Ok(Value::Null);
    }
    let mut from = serde_json::Deserializer::from_slice(written);
    let value = Strict { left: DEPTH }
        .deserialize(&mut from)
        .and_then(|value| from.end().map(|()| value));
    value.map_err(|e| format!("fd 3 did not hold one JSON value: {e}"))
}

/// A value whose objects name each key once, `left` levels deep at most.
#[derive(Clone, Copy)]
struct Strict {
    left: usize,
}

impl Strict {
    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        match self.left.checked_sub(1) {
            Some(left) => Ok(Self { left }),
            None => Err(E::custom(format!("nested deeper than {DEPTH}"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;
    fn deserialize<D: de::Deserializer<'de>>(
        self,
        from: D,
    ) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E>(self, v: bool) -> Result<Value, E> {
        Ok(Value::Bool(v))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Value, E> {
        Ok(Value::from(v))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Value, E> {
        Ok(Value::from(v))
    }
    fn visit_f64<E: de::Error>(self, v: f64) -> Result<Value, E> {
        let number = Number::from_f64(v).map(Value::Number);
        number.ok_or_else(|| E::custom("a number out of range"))
    }
    fn visit_str<E>(self, v: &str) -> Result<Value, E> {
        Ok(Value::from(v))
    }
    fn visit_string<E>(self, v: String) -> Result<Value, E> {
        Ok(Value::String(v))
    }
    fn visit_seq<A: SeqAccess<'de>>(
        self,
        mut seq: A,
    ) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }
    fn visit_map<A: MapAccess<'de>>(
        self,
        mut map: A,
    ) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut members = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if members.contains_key(&key) {
                let said = format!("the key `{key}` is repeated");
                return Err(de::Error::custom(said));
            }
            members.insert(key, map.next_value_seed(inner)?);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn one_json_value_is_the_result() {
        for (written, value) in [
            ("", json!(null)),
            ("null", json!(null)),
            (" 1 \n", json!(1)),
            ("-1.5e3", json!(-1500.0)),
            (r#"{"a":[true,"é",{}]}"#, json!({"a": [true, "é", {}]})),
            ("\"\"", json!("")),
        ] {
            assert_eq!(parse(written.as_bytes()), Ok(value), "{written}");
        }
    }

    #[test]
    fn anything_else_is_refused_with_a_sentence() {
        for (written, said) in [
            (" ", "EOF"),
            ("1 2", "trailing"),
            ("{\"a\":1}\n{\"a\":2}", "trailing"),
            ("{", "EOF"),
            ("done", "expected"),
            ("NaN", "expected"),
            ("1e999", "range"),
            (r#"{"a":1,"a":1}"#, "`a` is repeated"),
            (r#"[{"b":{"a":1,"c":2,"\u0061":3}}]"#, "`a` is repeated"),
        ] {
            let refused = parse(written.as_bytes()).unwrap_err();
            assert!(refused.contains(said), "{written}: {refused}");
        }
        assert!(parse(b"\"\xff\"").is_err());
    }

    #[test]
    fn sixty_four_levels_are_taken_and_one_more_is_not() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(parse(nested(64).as_bytes()).is_ok());
        let refused = parse(nested(65).as_bytes()).unwrap_err();
        assert!(refused.contains("deeper than 64"), "{refused}");
        assert!(parse(nested(100_000).as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(
            written in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            drop(parse(&written));
        }
    }
}
