use super::JobPlan;
use crate::contract::{Bytes, MilliCores, RuntimeClass};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// What one slot of a class promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share {
    slots: u32,
    cpu: MilliCores,
    memory: Bytes,
    pids: u32,
}

/// What is promised to jobs, all classes together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Promised {
    /// Cores.
    pub cpu: MilliCores,
    /// Memory.
    pub memory: Bytes,
    /// Processes and threads.
    pub pids: u64,
}

/// Why there is no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoSlot {
    /// The class is not configured.
    NotConfigured,
    /// As many as there are slots are taken.
    Taken { slots: u32 },
    /// No user of the configured range is free.
    NoUser { users: usize },
}

/// The slots of every class, and the users that jobs run as.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    book: Mutex<Book>,
    /// Counts changes, so that a view or an offer follows at once.
    changed: watch::Sender<u64>,
}

#[derive(Debug)]
struct Book {
    shares: BTreeMap<RuntimeClass, Share>,
    taken: BTreeMap<RuntimeClass, u32>,
    uids: Range<u32>,
    leased: BTreeSet<u32>,
    /// Where the search for a free user begins: users take turns, so that
    /// what an ended job may have left is not the next one's for long.
    next_uid: u32,
}

impl Slots {
    pub(crate) fn new(plan: &JobPlan) -> Self {
        let shares = plan.classes.iter().map(|(&class, of)| {
            let (slots, cpu) = (of.slots, of.cpu);
            let (memory, pids) = (of.memory, of.pids);
            (class, Share { slots, cpu, memory, pids })
        });
        let book = Book {
            shares: shares.collect(),
            taken: BTreeMap::new(),
            uids: plan.uids.clone(),
            leased: BTreeSet::new(),
            next_uid: plan.uids.start,
        };
        let changed = watch::Sender::new(0);
        Self { shared: Arc::new(Shared { book: Mutex::new(book), changed }) }
    }

    /// Takes a slot and a user; both are free again when the lease and all
    /// its clones are dropped.
    pub(crate) fn lease(&self, class: RuntimeClass) -> Result<Lease, NoSlot> {
        let uid = self.book().take(class)?;
        self.say_changed();
        let held = Held { class, uid, slots: self.clone() };
        Ok(Lease { held: Arc::new(held) })
    }

    /// Takes a user without a slot, for a probe.
    pub(crate) fn user(&self) -> Result<UserLease, NoSlot> {
        let uid = self.book().take_uid()?;
        Ok(UserLease { uid, slots: self.clone() })
    }

    pub(crate) fn free(&self, class: RuntimeClass) -> u32 {
        let book = self.book();
        let slots = book.shares.get(&class).map_or(0, |of| of.slots);
        slots.saturating_sub(book.taken_of(class))
    }

    /// Users that no job has.
    pub(crate) fn free_users(&self) -> usize {
        let book = self.book();
        book.uids.len().saturating_sub(book.leased.len())
    }

    pub(crate) fn promised(&self) -> Promised {
        let book = self.book();
        let mut sum = Promised::default();
        for (class, of) in &book.shares {
            let n = u64::from(book.taken_of(*class));
            sum.cpu.0 += n * of.cpu.0;
            sum.memory.0 += n * of.memory.0;
            sum.pids += n * u64::from(of.pids);
        }
        sum
    }

    /// Changes with every slot that is taken or freed.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changed.subscribe()
    }

    fn say_changed(&self) {
        self.shared.changed.send_modify(|n| *n = n.wrapping_add(1));
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // Counts change last, in one assignment each, so a panic elsewhere
        // leaves them right.
        self.shared.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn taken_of(&self, class: RuntimeClass) -> u32 {
        self.taken.get(&class).copied().unwrap_or_default()
    }

    fn take(&mut self, class: RuntimeClass) -> Result<u32, NoSlot> {
        let share = self.shares.get(&class).ok_or(NoSlot::NotConfigured)?;
        let slots = share.slots;
        if self.taken_of(class) >= slots {
            return Err(NoSlot::Taken { slots });
        }
        let uid = self.take_uid()?;
        *self.taken.entry(class).or_default() += 1;
        Ok(uid)
    }

    fn take_uid(&mut self) -> Result<u32, NoSlot> {
        let behind = self.next_uid..self.uids.end;
        let before = self.uids.start..self.next_uid;
        let free = behind.chain(before).find(|n| !self.leased.contains(n));
        let Some(uid) = free else {
            return Err(NoSlot::NoUser { users: self.uids.len() });
        };
        self.leased.insert(uid);
        self.next_uid =
            if uid + 1 < self.uids.end { uid + 1 } else { self.uids.start };
        Ok(uid)
    }

    fn give_back(&mut self, class: RuntimeClass, uid: u32) {
        self.leased.remove(&uid);
        if let Some(taken) = self.taken.get_mut(&class) {
            *taken = taken.saturating_sub(1);
        }
    }
}

/// A slot and a user, for as long as processes of a job may be there.
#[derive(Clone, Debug)]
pub(crate) struct Lease {
    held: Arc<Held>,
}

impl Lease {
    /// The job's user and group.
    pub(crate) fn uid(&self) -> u32 {
        self.held.uid
    }
}

#[derive(Debug)]
struct Held {
    class: RuntimeClass,
    uid: u32,
    slots: Slots,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.slots.book().give_back(self.class, self.uid);
        self.slots.say_changed();
    }
}

/// A user alone.
#[derive(Debug)]
pub(crate) struct UserLease {
    uid: u32,
    slots: Slots,
}

impl UserLease {
    pub(crate) fn uid(&self) -> u32 {
        self.uid
    }
}

impl Drop for UserLease {
    fn drop(&mut self) {
        self.slots.book().leased.remove(&self.uid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::testing::plan;
    use proptest::prelude::*;

    const CLASS: RuntimeClass = RuntimeClass::Function;

    #[test]
    fn a_slot_is_free_again_when_the_last_clone_of_its_lease_goes() {
        let slots = Slots::new(&plan(1));
        let lease = slots.lease(CLASS).unwrap();
        let clone = lease.clone();
        drop(lease);
        let taken = slots.lease(CLASS).map(|l| l.uid());
        assert_eq!(taken, Err(NoSlot::Taken { slots: 1 }));
        drop(clone);
        assert_eq!(slots.free(CLASS), 1);
        assert!(slots.lease(CLASS).is_ok());
    }

    #[test]
    fn a_class_that_is_not_configured_has_no_slot() {
        let slots = Slots::new(&plan(1));
        let refused = slots.lease(RuntimeClass::Gpu).map(|l| l.uid());
        assert_eq!(refused, Err(NoSlot::NotConfigured));
        assert_eq!(slots.free(RuntimeClass::Gpu), 0);
    }

    #[test]
    fn users_take_turns_and_no_two_jobs_have_one() {
        let slots = Slots::new(&plan(8)); // of 4 users
        let first = slots.lease(CLASS).unwrap().uid();
        let second = slots.lease(CLASS).unwrap();
        assert_ne!(first, second.uid());
        let more: Vec<_> =
            (0..3).map(|_| slots.lease(CLASS).unwrap()).collect();
        let none = slots.lease(CLASS).map(|l| l.uid());
        assert_eq!(none, Err(NoSlot::NoUser { users: 4 }));
        assert_eq!(slots.free(CLASS), 4);
        drop(more);
    }

    #[test]
    fn what_is_promised_is_the_sum_of_the_slots_taken() {
        let slots = Slots::new(&plan(2));
        assert_eq!(slots.promised(), Promised::default());
        let leases = [slots.lease(CLASS).unwrap(), slots.lease(CLASS).unwrap()];
        let of = plan(2).classes[&CLASS].clone();
        let want = Promised {
            cpu: MilliCores(2 * of.cpu.0),
            memory: Bytes(2 * of.memory.0),
            pids: u64::from(2 * of.pids),
        };
        assert_eq!(slots.promised(), want);
        drop(leases);
        assert_eq!(slots.promised(), Promised::default());
    }

    proptest! {
        #[test]
        fn nothing_is_counted_twice(turns in prop::collection::vec(0_usize..6, 0..80)) {
            let slots = Slots::new(&plan(3));
            let mut held: Vec<Lease> = Vec::new();
            for turn in turns {
                if turn < held.len() {
                    held.remove(turn);
                } else if let Ok(lease) = slots.lease(CLASS) {
                    held.push(lease);
                }
                let users: BTreeSet<_> = held.iter().map(Lease::uid).collect();
                prop_assert_eq!(users.len(), held.len());
                let taken = u32::try_from(held.len()).unwrap();
                prop_assert_eq!(slots.free(CLASS), 3 - taken);
            }
        }
    }
}
