use super::nearest::did_you_mean;
use super::raw::{Item, Raw, Table};
use super::wanted::Wanted;
use super::{ConfigFault, Origin, Shown};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// What a walk over the whole tree gathers on its way.
#[derive(Debug, Default)]
pub(super) struct Walk {
    faults: RefCell<Vec<ConfigFault>>,
    shown: RefCell<Vec<Shown>>,
    keys: RefCell<Vec<String>>,
}

impl Walk {
    pub(super) fn fault(
        &self,
        origin: Origin,
        key: impl Into<String>,
        message: impl Into<String>,
    ) {
        let (key, message) = (key.into(), message.into());
        self.faults.borrow_mut().push(ConfigFault { origin, key, message });
    }

    pub(super) fn show<T: Wanted>(&self, key: &str, given: &Given<T>) {
        self.shown.borrow_mut().push(Shown {
            key: key.to_owned(),
            text: given.value.shown(),
            origin: given.origin.clone(),
        });
    }

    /// Where the value that was shown under `key` comes from.
    pub(super) fn origin(&self, key: &str) -> Origin {
        let shown = self.shown.borrow();
        let found = shown.iter().find(|shown| shown.key == key);
        found.map_or(Origin::Default, |shown| shown.origin.clone())
    }

    /// Faults, effective values, and every key that was asked for.
    pub(super) fn gathered(
        self,
    ) -> (Vec<ConfigFault>, Vec<Shown>, Vec<String>) {
        let Self { faults, shown, keys } = self;
        (faults.into_inner(), shown.into_inner(), keys.into_inner())
    }
}

/// A value and who gave it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Given<T> {
    pub(super) value: T,
    pub(super) origin: Origin,
}

impl<T> Given<T> {
    pub(super) fn default(value: T) -> Self {
        Self { value, origin: Origin::Default }
    }
}

/// One table, walked key by key; whatever is left at the end is unknown.
#[must_use = "its unknown keys are only found by `done`"]
pub(super) struct Section<'w> {
    pub(super) walk: &'w Walk,
    path: String,
    origin: Origin,
    left: Table,
    known: Vec<&'static str>,
    origins: BTreeMap<&'static str, Origin>,
}

impl<'w> Section<'w> {
    pub(super) fn new(
        walk: &'w Walk,
        path: impl Into<String>,
        table: Table,
        origin: Origin,
    ) -> Self {
        let (known, origins) = (Vec::new(), BTreeMap::new());
        let path = path.into();
        Self { walk, path, origin, left: table, known, origins }
    }

    /// A key's dotted name.
    pub(super) fn key(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }

    /// Where the key stands, or else its table.
    pub(super) fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).unwrap_or(&self.origin).clone()
    }

    /// Says that what stands under `key` cannot be meant.
    pub(super) fn fault(&self, key: &str, message: impl Into<String>) {
        self.walk.fault(self.origin(key), self.key(key), message);
    }

    fn take(&mut self, key: &'static str) -> Option<Item> {
        self.known.push(key);
        self.walk.keys.borrow_mut().push(self.key(key));
        let item = self.left.remove(key)?;
        self.origins.insert(key, item.origin.clone());
        Some(item)
    }

    /// The value under `key`, not shown yet.
    pub(super) fn given<T: Wanted>(
        &mut self,
        key: &'static str,
    ) -> Option<Given<T>> {
        let Item { raw, origin } = self.take(key)?;
        match T::read(&raw) {
            Ok(value) => Some(Given { value, origin }),
            Err(message) => {
                self.fault(key, message);
                None
            }
        }
    }

    /// The value under `key`, if there is one.
    pub(super) fn opt<T: Wanted>(&mut self, key: &'static str) -> Option<T> {
        let given = self.given(key)?;
        self.walk.show(&self.key(key), &given);
        Some(given.value)
    }

    /// The value under `key`, which must be there.
    pub(super) fn need<T: Wanted>(&mut self, key: &'static str) -> Option<T> {
        let missing = !self.has(key);
        let value = self.opt(key);
        if missing {
            self.fault(key, "is missing");
        }
        value
    }

    /// The value under `key`, or `default`.
    pub(super) fn or<T: Wanted>(&mut self, key: &'static str, default: T) -> T {
        let given = self.given(key).unwrap_or(Given::default(default));
        self.walk.show(&self.key(key), &given);
        given.value
    }

    /// As [`Self::or`], within bounds.
    pub(super) fn within<T: Wanted + PartialOrd>(
        &mut self,
        key: &'static str,
        default: T,
        bounds: RangeInclusive<T>,
    ) -> T {
        let value = self.or(key, default);
        self.check(key, &value, &bounds);
        value
    }

    /// Says so when `value` is out of `bounds`.
    pub(super) fn check<T: Wanted + PartialOrd>(
        &self,
        key: &str,
        value: &T,
        bounds: &RangeInclusive<T>,
    ) {
        if !bounds.contains(value) {
            self.fault(key, out_of(value, bounds));
        }
    }

    /// One of a few words, as `read` knows them.
    pub(super) fn word<T>(
        &mut self,
        key: &'static str,
        (words, read): (&[&'static str], impl Fn(&str) -> Option<T>),
        default: &'static str,
    ) -> Option<T> {
        let word = self.or(key, default.to_owned());
        let found = read(&word);
        if found.is_none() {
            let words = words.join("`, `");
            self.fault(key, format!("`{word}` is none of `{words}`"));
        }
        found
    }

    /// The table under `key`, empty where there is none.
    pub(super) fn section(&mut self, key: &'static str) -> Section<'w> {
        let path = self.key(key);
        let at = self.origin.clone();
        let item = self.take(key);
        let (table, origin) = match item {
            Some(Item { raw: Raw::Table(table), origin }) => (table, origin),
            Some(Item { raw, origin }) => {
                let not = format!("must be a table, not {}", raw.noun());
                self.fault(key, not);
                (Table::new(), origin)
            }
            None => (Table::new(), at),
        };
        Section::new(self.walk, path, table, origin)
    }

    /// The tables of `[[key]]`.
    pub(super) fn sections(&mut self, key: &'static str) -> Vec<Section<'w>> {
        let items = match self.take(key) {
            Some(Item { raw: Raw::List(items), .. }) => items,
            Some(Item { raw, .. }) => {
                let noun = raw.noun();
                self.fault(key, format!("must be `[[{key}]]`, not {noun}"));
                Vec::new()
            }
            None => Vec::new(),
        };
        let each = items.into_iter().enumerate();
        each.filter_map(|(at, Item { raw, origin })| {
            let path = format!("{}[{at}]", self.key(key));
            if let Raw::Table(table) = raw {
                return Some(Section::new(self.walk, path, table, origin));
            }
            self.walk.fault(origin, path, "must be a table");
            None
        })
        .collect()
    }

    /// Whether anything stands under `key`.
    pub(super) fn has(&self, key: &str) -> bool {
        self.left.contains_key(key) || self.origins.contains_key(key)
    }

    /// Says which keys nobody asked for.
    pub(super) fn done(self) {
        for (key, item) in &self.left {
            let message = did_you_mean(key, &self.known);
            self.walk.fault(item.origin.clone(), self.key(key), message);
        }
    }
}

/// "must be between … and …, not …".
pub(super) fn out_of<T: Wanted>(
    value: &T,
    bounds: &RangeInclusive<T>,
) -> String {
    format!(
        "must be between {} and {}, not {}",
        bounds.start().shown().hidden(),
        bounds.end().shown().hidden(),
        value.shown().hidden()
    )
}
