use super::{ConfigFault, Origin};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use toml::de::{DeTable, DeValue};

/// A value as it was written, not yet read as what its key wants.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Raw {
    Text(String),
    Int(i128),
    Float(f64),
    Bool(bool),
    Date,
    List(Vec<Item>),
    Table(Table),
    /// A variable's text, which is read as whatever its key wants.
    Env(String),
}

impl Raw {
    /// What it is, as a noun phrase for faults.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Self::Text(_) | Self::Env(_) => "text",
            Self::Int(_) | Self::Float(_) => "a number",
            Self::Bool(_) => "true or false",
            Self::Date => "a date",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

/// A value and where its key stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) raw: Raw,
    pub(super) origin: Origin,
}

pub(super) type Table = BTreeMap<String, Item>;

/// The tree of a file, as far as it is TOML, and where it is not.
pub(super) fn parse(path: &Arc<Path>, text: &str) -> (Table, Vec<ConfigFault>) {
    let lines = Lines::of(path, text);
    let (table, errors) = DeTable::parse_recoverable(text);
    let faults = errors.iter().map(|error| ConfigFault {
        origin: lines.origin(error.span().map_or(0, |span| span.start)),
        key: String::new(),
        // The parser's own words name what it expected, never the input.
        message: format!("not TOML: {}", error.message()),
    });
    (lines.table(table.get_ref()), faults.collect())
}

/// Where lines begin.
struct Lines<'p> {
    path: &'p Arc<Path>,
    starts: Vec<usize>,
}

impl<'p> Lines<'p> {
    fn of(path: &'p Arc<Path>, text: &str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { path, starts: std::iter::once(0).chain(breaks).collect() }
    }

    fn origin(&self, offset: usize) -> Origin {
        let line = self.starts.partition_point(|start| *start <= offset);
        Origin::File { path: Arc::clone(self.path), line }
    }

    fn table(&self, table: &DeTable<'_>) -> Table {
        let item = |value: &DeValue<'_>, at: usize| Item {
            raw: self.raw(value),
            origin: self.origin(at),
        };
        table
            .iter()
            .map(|(key, value)| {
                let name = key.get_ref().clone().into_owned();
                (name, item(value.get_ref(), key.span().start))
            })
            .collect()
    }

    fn raw(&self, value: &DeValue<'_>) -> Raw {
        match value {
            DeValue::String(text) => Raw::Text(text.clone().into_owned()),
            // Past 128 bits it is past every bound, which is what it is told.
            DeValue::Integer(n) => Raw::Int(
                i128::from_str_radix(n.as_str(), n.radix())
                    .unwrap_or(i128::MAX),
            ),
            DeValue::Float(x) => {
                Raw::Float(x.as_str().parse().unwrap_or(f64::NAN))
            }
            DeValue::Boolean(yes) => Raw::Bool(*yes),
            DeValue::Datetime(_) => Raw::Date,
            DeValue::Array(list) => Raw::List(
                list.iter()
                    .map(|value| Item {
                        raw: self.raw(value.get_ref()),
                        origin: self.origin(value.span().start),
                    })
                    .collect(),
            ),
            DeValue::Table(table) => Raw::Table(self.table(table)),
        }
    }
}
