use super::{At, Read};
use crate::contract::FaultKind;
use serde_json::{Map, Value};

/// An object being read.
pub(in crate::contract) struct Object<'a> {
    at: At<'a>,
    map: &'a Map<String, Value>,
    asked: Vec<&'static str>,
    found: usize,
}

impl<'a> Object<'a> {
    pub(super) fn new(at: At<'a>, map: &'a Map<String, Value>) -> Self {
        // One allocation: a document asks for few keys that are not there.
        let asked = Vec::with_capacity(map.len() + 4);
        Self { at, map, asked, found: 0 }
    }

    /// The text at a key on which another key depends; read on its own
    /// beside this, so nothing is a fault here.
    pub(in crate::contract) fn text(&self, key: &str) -> Option<&'a str> {
        self.map.get(key)?.as_str()
    }

    /// A key that must be there.
    pub(in crate::contract) fn need<T: Read>(
        &mut self,
        key: &'static str,
    ) -> Option<T> {
        self.need_with(key, T::read)
    }

    /// A key that may be there.
    pub(in crate::contract) fn may<T: Read>(
        &mut self,
        key: &'static str,
    ) -> Option<Option<T>> {
        self.may_with(key, T::read)
    }

    /// A key that must be there, read by `read`.
    pub(in crate::contract) fn need_with<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(At<'_>) -> Option<T>,
    ) -> Option<T> {
        match self.may_with(key, read) {
            Some(None) => {
                self.at.miss(key);
                None
            }
            found => found.flatten(),
        }
    }

    /// A key that may be there, read by `read`; `None` only after a fault.
    pub(in crate::contract) fn may_with<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(At<'_>) -> Option<T>,
    ) -> Option<Option<T>> {
        self.asked.push(key);
        let Some(value) = self.map.get(key) else { return Some(None) };
        self.found += 1;
        read(self.at.key(key, value)).map(Some)
    }

    /// Tells a fault of one key, there or not.
    pub(in crate::contract) fn fault(
        &self,
        key: &str,
        kind: FaultKind,
        message: String,
    ) {
        self.at.fault_of(key, kind, message);
    }

    /// A field made of more than one key.
    pub(in crate::contract) fn also<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Self, &'static str) -> Option<T>,
    ) -> Option<T> {
        read(self, key)
    }

    /// The `v` of every message: 1, however it is written.
    pub(in crate::contract) fn version(&mut self) -> Option<()> {
        self.need_with("v", |at| {
            let one = at.integer(i128::MIN)? == 1;
            one.then_some(()).or_else(|| at.refuse("1"))
        })
    }

    /// Judges no key that was not asked for: what else may be there depends
    /// on one that is at fault already.
    pub(in crate::contract) fn judge_no_more<T>(&mut self) -> Option<T> {
        self.found = self.map.len();
        None
    }

    /// Tells every key that was not asked for.
    pub(super) fn refuse_unknown(&self) {
        if self.found == self.map.len() {
            return;
        }
        let unknown =
            self.map.keys().filter(|key| !self.asked.contains(&key.as_str()));
        for key in unknown {
            let message = "is not a key of this contract".into();
            self.fault(key, FaultKind::UnknownKey, message);
        }
    }
}
