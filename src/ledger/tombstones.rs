use super::LedgerError;
use crate::contract::DispatcherId;
use std::collections::BTreeMap;

/// Ids that one dispatcher may have refused for good before they came. It
/// cancels so when an answer was lost, which is seldom; beyond this a cancel
/// of an unknown id promises nothing, and nobody else is the worse for it.
const EACH: usize = 1_000;
/// The same of all dispatchers together: they take no place of a job's.
const ALL: usize = 20_000;

/// How many tombstones there are, and whose they are.
#[derive(Debug, Default)]
pub(super) struct Tombstones {
    each: BTreeMap<DispatcherId, usize>,
    all: usize,
}

impl Tombstones {
    pub(super) fn all(&self) -> usize {
        self.all
    }

    /// Counts one more of this dispatcher, where there is room for it.
    pub(super) fn add(&mut self, by: &DispatcherId) -> Result<(), LedgerError> {
        let own = self.each.get(by).copied().unwrap_or_default();
        if own >= EACH || self.all >= ALL {
            return Err(LedgerError::TooManyCancels { own, all: self.all });
        }
        self.each.insert(by.clone(), own + 1);
        self.all += 1;
        Ok(())
    }

    /// One of this dispatcher is forgotten.
    pub(super) fn drop_one(&mut self, by: &DispatcherId) {
        let Some(own) = self.each.get_mut(by) else { return };
        *own -= 1;
        self.all -= 1;
        if *own == 0 {
            self.each.remove(by);
        }
    }
}
