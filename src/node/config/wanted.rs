use super::raw::{Item, Raw};
use super::shown::Text;
use super::units::{duration, show_duration, show_size, size};
use super::{Secret, ServerAddr};
use crate::contract::{Amount, Bytes, Capability, MilliCores, Token};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// What a key can want: read from whatever was written, and shown again.
pub(super) trait Wanted: Sized {
    /// Reads it; the fault is a sentence that says what would be right.
    fn read(raw: &Raw) -> Result<Self, String>;
    /// How `config show` writes it.
    fn shown(&self) -> Text;
}

fn not_a(raw: &Raw, wanted: &str) -> String {
    format!("must be {wanted}, not {}", raw.noun())
}

fn text<'r>(raw: &'r Raw, wanted: &str) -> Result<&'r str, String> {
    if let Raw::Text(text) | Raw::Env(text) = raw {
        Ok(text)
    } else {
        Err(not_a(raw, wanted))
    }
}

/// TOML's basic string is near enough to JSON's to write one as the other.
fn quoted(text: &str) -> Text {
    Text::Plain(serde_json::Value::from(text).to_string())
}

impl Wanted for String {
    fn read(raw: &Raw) -> Result<Self, String> {
        let text = text(raw, "text")?;
        if text.trim().is_empty() {
            return Err("must not be empty".to_owned());
        }
        Ok(text.to_owned())
    }
    fn shown(&self) -> Text {
        quoted(self)
    }
}

impl Wanted for Secret {
    fn read(raw: &Raw) -> Result<Self, String> {
        String::read(raw).map(Self::new)
    }
    fn shown(&self) -> Text {
        Text::Secret(self.clone())
    }
}

impl Wanted for bool {
    fn read(raw: &Raw) -> Result<Self, String> {
        match raw {
            Raw::Bool(yes) => Ok(*yes),
            Raw::Env(text) => text
                .parse()
                .map_err(|_| format!("must be true or false, not `{text}`")),
            Raw::Text(_)
            | Raw::Int(_)
            | Raw::Float(_)
            | Raw::Date
            | Raw::List(_)
            | Raw::Table(_) => Err(not_a(raw, "true or false")),
        }
    }
    fn shown(&self) -> Text {
        Text::Plain(self.to_string())
    }
}

impl Wanted for u64 {
    fn read(raw: &Raw) -> Result<Self, String> {
        let number = match raw {
            Raw::Int(n) => Self::try_from(*n).ok(),
            Raw::Env(text) => text.trim().parse().ok(),
            Raw::Text(_)
            | Raw::Float(_)
            | Raw::Bool(_)
            | Raw::Date
            | Raw::List(_)
            | Raw::Table(_) => return Err(not_a(raw, "a whole number")),
        };
        number.ok_or_else(|| "must be a whole number, 0 or more".to_owned())
    }
    fn shown(&self) -> Text {
        Text::Plain(self.to_string())
    }
}

impl Wanted for u32 {
    fn read(raw: &Raw) -> Result<Self, String> {
        Self::try_from(u64::read(raw)?)
            .map_err(|_| format!("must be {} or less", Self::MAX))
    }
    fn shown(&self) -> Text {
        Text::Plain(self.to_string())
    }
}

impl Wanted for f64 {
    fn read(raw: &Raw) -> Result<Self, String> {
        let number = match raw {
            // Read through text: a whole number in any TOML notation.
            Raw::Int(n) => n.to_string().parse().ok(),
            Raw::Float(x) => Some(*x),
            Raw::Env(text) => text.trim().parse().ok(),
            Raw::Text(_)
            | Raw::Bool(_)
            | Raw::Date
            | Raw::List(_)
            | Raw::Table(_) => return Err(not_a(raw, "a number")),
        };
        number
            .filter(|x: &Self| x.is_finite() && *x >= 0.0)
            .ok_or_else(|| "must be a number, 0 or more".to_owned())
    }
    fn shown(&self) -> Text {
        Text::Plain(format!("{self:?}"))
    }
}

impl Wanted for Amount {
    fn read(raw: &Raw) -> Result<Self, String> {
        Self::try_from(f64::read(raw)?).map_err(|bad| bad.to_string())
    }
    fn shown(&self) -> Text {
        self.get().shown()
    }
}

impl Wanted for MilliCores {
    fn read(raw: &Raw) -> Result<Self, String> {
        let cores = f64::read(raw)?;
        // Rounded by formatting, since a cast could lose what it is given.
        format!("{:.0}", cores * 1000.0)
            .parse()
            .map(Self)
            .map_err(|_| "is more cores than can be counted".to_owned())
    }
    fn shown(&self) -> Text {
        Text::Plain(self.cores().to_string())
    }
}

impl Wanted for Duration {
    fn read(raw: &Raw) -> Result<Self, String> {
        duration(text(raw, "text with a unit, as `10s`")?)
    }
    fn shown(&self) -> Text {
        quoted(&show_duration(*self))
    }
}

impl Wanted for Bytes {
    fn read(raw: &Raw) -> Result<Self, String> {
        size(text(raw, "text with a unit, as `512MiB`")?)
    }
    fn shown(&self) -> Text {
        quoted(&show_size(*self))
    }
}

impl Wanted for PathBuf {
    fn read(raw: &Raw) -> Result<Self, String> {
        let path = Self::from(text(raw, "a path")?);
        if path.is_absolute() {
            Ok(path)
        } else {
            // A daemon's working directory is no one's business.
            Err(format!("`{}` is not an absolute path", path.display()))
        }
    }
    fn shown(&self) -> Text {
        quoted(&self.to_string_lossy())
    }
}

impl Wanted for Token {
    fn read(raw: &Raw) -> Result<Self, String> {
        let text = text(raw, "text")?.to_owned();
        Self::try_from(text).map_err(|bad| bad.to_string())
    }
    fn shown(&self) -> Text {
        quoted(self.as_str())
    }
}

impl Wanted for Capability {
    fn read(raw: &Raw) -> Result<Self, String> {
        let text = text(raw, "text")?.to_owned();
        Self::try_from(text).map_err(|bad| bad.to_string())
    }
    fn shown(&self) -> Text {
        quoted(self.as_str())
    }
}

impl Wanted for ServerAddr {
    fn read(raw: &Raw) -> Result<Self, String> {
        text(raw, "text")?.parse()
    }
    fn shown(&self) -> Text {
        quoted(&self.to_string())
    }
}

/// All of them, or what is wrong with each that is wrong.
fn all<T, C: FromIterator<T>>(
    each: impl Iterator<Item = Result<T, String>>,
) -> Result<C, String> {
    let mut faults = Vec::new();
    let all = each.filter_map(|one| one.map_err(|why| faults.push(why)).ok());
    let all: C = all.collect();
    if faults.is_empty() { Ok(all) } else { Err(faults.join("; ")) }
}

impl<T: Wanted> Wanted for Vec<T> {
    fn read(raw: &Raw) -> Result<Self, String> {
        match raw {
            Raw::List(items) => {
                all(items.iter().map(|item| T::read(&item.raw)))
            }
            Raw::Env(text) => all(text
                .split(',')
                .map(|part| T::read(&Raw::Env(part.trim().to_owned())))),
            Raw::Text(_)
            | Raw::Int(_)
            | Raw::Float(_)
            | Raw::Bool(_)
            | Raw::Date
            | Raw::Table(_) => Err(not_a(raw, "a list")),
        }
    }
    fn shown(&self) -> Text {
        Text::List(self.iter().map(T::shown).collect())
    }
}

impl<T: Wanted> Wanted for BTreeMap<String, T> {
    fn read(raw: &Raw) -> Result<Self, String> {
        let Raw::Table(table) = raw else {
            return Err(not_a(raw, "a table"));
        };
        let read = |(name, item): (&String, &Item)| {
            let value = T::read(&item.raw);
            let value = value.map_err(|why| format!("`{name}` {why}"))?;
            Ok((name.clone(), value))
        };
        all(table.iter().map(read))
    }
    fn shown(&self) -> Text {
        let part = |(name, value): (&String, &T)| (name.clone(), value.shown());
        Text::Map(self.iter().map(part).collect())
    }
}
