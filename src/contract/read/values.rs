use super::{At, Read};
use crate::contract::FaultKind;
use std::collections::{BTreeMap, BTreeSet};

/// An array that holds one item at least.
pub(in crate::contract) fn one_or_more<T: Read>(at: At<'_>) -> Option<T> {
    let empty = at.value().as_array().is_some_and(Vec::is_empty);
    if empty {
        let message = "must hold one item at least".to_owned();
        at.fault(FaultKind::Value, message);
        return None;
    }
    T::read(at)
}

impl Read for String {
    fn read(at: At<'_>) -> Option<Self> {
        at.str().map(str::to_owned)
    }
}

impl Read for bool {
    fn read(at: At<'_>) -> Option<Self> {
        at.value().as_bool().or_else(|| at.wrong_type("a boolean"))
    }
}

impl Read for u64 {
    fn read(at: At<'_>) -> Option<Self> {
        at.count(0)
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(at: At<'_>) -> Option<Self> {
        at.items(T::read)
    }
}

impl<T: Read> Read for Box<T> {
    fn read(at: At<'_>) -> Option<Self> {
        T::read(at).map(Self::new)
    }
}

/// An array without repeats.
impl<T: Read + Ord> Read for BTreeSet<T> {
    fn read(at: At<'_>) -> Option<Self> {
        let items = Vec::<T>::read(at)?;
        let count = items.len();
        let set = Self::from_iter(items);
        if set.len() == count {
            Some(set)
        } else {
            let message = "must not hold an item twice".to_owned();
            at.fault(FaultKind::Value, message);
            None
        }
    }
}

/// An object of any keys.
impl<T: Read> Read for BTreeMap<String, T> {
    fn read(at: At<'_>) -> Option<Self> {
        let mut all = Some(Self::new());
        for (key, value) in at.map()? {
            let entry = T::read(at.key(key, value));
            all = all.zip(entry).map(|(mut all, entry)| {
                all.insert(key.clone(), entry);
                all
            });
        }
        all
    }
}
