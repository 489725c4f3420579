use super::{Admission, Counts, LedgerError, Row, RowState, StoredExit};
use crate::contract::{DispatcherId, JobId, Now, Timestamp};
use std::collections::{BTreeMap, VecDeque};

/// Settled rows beyond which the oldest are forgotten: a row is some 300
/// bytes, so this is 3 MB, and a day of seven jobs a minute.
const SETTLED_ROWS: usize = 10_000;
/// Rows in all beyond which nothing is admitted: ten times as many, as only
/// exits that nobody acknowledges can pile up so far.
const ROWS: usize = 100_000;
/// Exits kept of settled jobs, for a dispatcher that asks again.
const SETTLED_BYTES: usize = 16 << 20;
/// Exits not acknowledged beyond which nothing is admitted: 256 of the
/// greatest size, and still less than one job's memory.
const UNACKNOWLEDGED_BYTES: usize = 64 << 20;
/// Rows younger than this are never forgotten, so that the floor stays below
/// the ids of jobs that are still on their way.
const PRUNE_AGE_MS: u64 = 600_000;

/// The rows and their bounds, in the order of their ids, which is the order
/// of their making.
#[derive(Debug)]
pub(super) struct Book {
    rows: BTreeMap<JobId, Row>,
    floor: Timestamp,
    /// Kept beside the rows: the status asks at every change of a job.
    counts: Counts,
    unacknowledged_bytes: usize,
    /// Settled rows that still have their exit, in the order they settled.
    kept: VecDeque<JobId>,
    kept_bytes: usize,
}

impl Book {
    pub(super) fn new(floor: Timestamp) -> Self {
        Self {
            rows: BTreeMap::new(),
            floor,
            counts: Counts::default(),
            unacknowledged_bytes: 0,
            kept: VecDeque::new(),
            kept_bytes: 0,
        }
    }

    pub(super) fn admit(&mut self, new: Admission) -> Result<(), LedgerError> {
        let Admission { id, dispatcher, hash, received } = new;
        let state = RowState::Held;
        self.insert(id, Row { dispatcher, hash, received, state })
    }

    pub(super) fn tombstone(
        &mut self,
        id: &JobId,
        by: &DispatcherId,
        now: Now,
    ) -> Result<(), LedgerError> {
        let row = Row {
            dispatcher: by.clone(),
            hash: String::new(),
            received: now,
            state: RowState::Tombstone,
        };
        self.insert(id.clone(), row)?;
        self.prune(now);
        Ok(())
    }

    fn insert(&mut self, id: JobId, row: Row) -> Result<(), LedgerError> {
        if self.rows.contains_key(&id) {
            return Err(LedgerError::Known(id));
        }
        let (made, floor) = (id.made_ms(), self.floor.0);
        if made <= floor {
            return Err(LedgerError::BelowFloor { id, made, floor });
        }
        let (rows, bytes) = (self.rows.len(), self.unacknowledged_bytes);
        if rows >= ROWS || bytes >= UNACKNOWLEDGED_BYTES {
            return Err(LedgerError::Full { rows, bytes });
        }
        *self.counts.of(&row.state) += 1;
        self.rows.insert(id, row);
        Ok(())
    }

    pub(super) fn lookup(&self, id: &JobId) -> Option<Row> {
        self.rows.get(id).cloned()
    }

    pub(super) fn ended(
        &mut self,
        id: &JobId,
        exit: StoredExit,
    ) -> Result<(), LedgerError> {
        let row = find(&mut self.rows, id)?;
        match row.state {
            RowState::Held => {
                self.unacknowledged_bytes += exit.payload.len();
                turn(row, RowState::Ended(exit), &mut self.counts);
                Ok(())
            }
            RowState::Ended(_)
            | RowState::Settled(_)
            | RowState::Unacked(_)
            | RowState::Tombstone => Err(not_now(id, &row.state, "ended")),
        }
    }

    pub(super) fn acknowledged(
        &mut self,
        id: &JobId,
        now: Now,
    ) -> Result<(), LedgerError> {
        self.settle(id, now, "acknowledged", RowState::Settled)
    }

    pub(super) fn given_up(
        &mut self,
        id: &JobId,
        now: Now,
    ) -> Result<(), LedgerError> {
        self.settle(id, now, "given up", RowState::Unacked)
    }

    fn settle(
        &mut self,
        id: &JobId,
        now: Now,
        wanted: &'static str,
        into: fn(Option<StoredExit>) -> RowState,
    ) -> Result<(), LedgerError> {
        let row = find(&mut self.rows, id)?;
        let exit = match &row.state {
            RowState::Ended(exit) => exit.clone(),
            RowState::Settled(_) | RowState::Unacked(_) => return Ok(()),
            RowState::Held | RowState::Tombstone => {
                return Err(not_now(id, &row.state, wanted));
            }
        };
        let bytes = exit.payload.len();
        turn(row, into(Some(exit)), &mut self.counts);
        self.unacknowledged_bytes -= bytes;
        self.kept_bytes += bytes;
        self.kept.push_back(id.clone());
        self.drop_old_exits();
        self.prune(now);
        Ok(())
    }

    fn drop_old_exits(&mut self) {
        while self.kept_bytes > SETTLED_BYTES {
            let Some(id) = self.kept.pop_front() else { return };
            let Some(row) = self.rows.get_mut(&id) else { continue };
            if let RowState::Settled(kept) | RowState::Unacked(kept) =
                &mut row.state
            {
                let gone = kept.take().map_or(0, |e| e.payload.len());
                self.kept_bytes = self.kept_bytes.saturating_sub(gone);
            }
        }
    }

    /// Forgets the oldest settled rows beyond the bound, and raises the
    /// floor over each, so that none of their ids can be taken again.
    fn prune(&mut self, now: Now) {
        while self.counts.done() > SETTLED_ROWS {
            let old = now.wall.0.saturating_sub(PRUNE_AGE_MS);
            let found = self
                .rows
                .iter()
                .take_while(|(id, _)| id.made_ms() < old)
                .find(|(_, row)| row.state.is_settled());
            let Some(id) = found.map(|(id, _)| id.clone()) else { return };
            self.forget(&id);
        }
    }

    fn forget(&mut self, id: &JobId) {
        let Some(row) = self.rows.remove(id) else { return };
        let bytes = row.state.exit().map_or(0, |e| e.payload.len());
        self.kept_bytes = self.kept_bytes.saturating_sub(bytes);
        // Rows are forgotten in about the order in which they settled.
        while self.kept.front().is_some_and(|k| !self.rows.contains_key(k)) {
            self.kept.pop_front();
        }
        *self.counts.of(&row.state) -= 1;
        self.floor = self.floor.max(Timestamp(id.made_ms()));
    }

    pub(super) fn floor(&self) -> Timestamp {
        self.floor
    }

    pub(super) fn unacknowledged(&self) -> Vec<JobId> {
        let ended = |row: &Row| matches!(row.state, RowState::Ended(_));
        let rows = self.rows.iter().filter(|(_, row)| ended(row));
        rows.map(|(id, _)| id.clone()).collect()
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }
}

fn find<'a>(
    rows: &'a mut BTreeMap<JobId, Row>,
    id: &JobId,
) -> Result<&'a mut Row, LedgerError> {
    rows.get_mut(id).ok_or_else(|| LedgerError::Unknown(id.clone()))
}

/// Every change of a row's state, so that the counts go with it.
fn turn(row: &mut Row, into: RowState, counts: &mut Counts) {
    *counts.of(&row.state) -= 1;
    *counts.of(&into) += 1;
    row.state = into;
}

fn not_now(id: &JobId, state: &RowState, wanted: &'static str) -> LedgerError {
    let state = state.word();
    LedgerError::NotNow { id: id.clone(), state, wanted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes as Payload;
    use proptest::prelude::*;

    const START: u64 = 1_800_000_000_000;

    fn at(ms: u64) -> Now {
        Now { wall: Timestamp(START + ms), ..Now::default() }
    }

    /// An id made `ms` after the ledger's start, the `n`th of that moment.
    fn id(ms: u64, n: u64) -> JobId {
        const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
        let digits = |value: u64, width: u32| {
            let digit = |at| {
                let five = (value >> (5 * (width - 1 - at))) & 31;
                char::from(DIGITS[usize::try_from(five).unwrap()])
            };
            (0..width).map(digit).collect::<String>()
        };
        let text = format!(
            "job_{}{}{}",
            digits(START + ms, 10),
            "0000",
            digits(n, 12)
        );
        JobId::try_from(text).unwrap()
    }

    fn bob() -> DispatcherId {
        "bob".to_owned().try_into().unwrap()
    }

    fn admission(id: &JobId) -> Admission {
        Admission {
            id: id.clone(),
            dispatcher: "alice".to_owned().try_into().unwrap(),
            hash: "h".to_owned(),
            received: at(0),
        }
    }

    fn exit(bytes: usize) -> StoredExit {
        StoredExit {
            subject: "s".to_owned(),
            payload: Payload::from(vec![b'x'; bytes]),
            reasons: vec![],
            at: Timestamp(START),
        }
    }

    fn settled(book: &mut Book, id: &JobId, bytes: usize, now: Now) {
        book.admit(admission(id)).unwrap();
        book.ended(id, exit(bytes)).unwrap();
        book.acknowledged(id, now).unwrap();
    }

    /// What the counts must be, row by row.
    fn counted(book: &Book) -> Counts {
        let mut counts = Counts::default();
        for row in book.rows.values() {
            *counts.of(&row.state) += 1;
        }
        counts
    }

    #[test]
    fn an_id_is_admitted_once() {
        let mut book = Book::new(Timestamp(START));
        book.admit(admission(&id(1, 1))).unwrap();
        let again = book.admit(admission(&id(1, 1)));
        assert_eq!(again, Err(LedgerError::Known(id(1, 1))));
    }

    #[test]
    fn an_id_at_or_below_the_floor_is_refused() {
        let mut book = Book::new(Timestamp(START));
        let refused = book.admit(admission(&id(0, 1)));
        assert!(matches!(refused, Err(LedgerError::BelowFloor { .. })));
        book.admit(admission(&id(1, 1))).unwrap();
    }

    #[test]
    fn an_exit_is_written_once_and_acknowledged_as_often_as_one_likes() {
        let mut book = Book::new(Timestamp(START));
        let job = id(1, 1);
        book.admit(admission(&job)).unwrap();
        assert!(book.acknowledged(&job, at(1)).is_err());
        book.ended(&job, exit(9)).unwrap();
        assert!(book.ended(&job, exit(1)).is_err());
        assert_eq!(book.unacknowledged(), vec![job.clone()]);
        book.acknowledged(&job, at(1)).unwrap();
        book.acknowledged(&job, at(2)).unwrap();
        assert_eq!(book.unacknowledged(), vec![]);
        assert_eq!(book.lookup(&job).unwrap().state.exit(), Some(&exit(9)));
        assert!(book.tombstone(&job, &bob(), at(2)).is_err());
    }

    #[test]
    fn a_tombstone_refuses_its_id_for_good() {
        let (mut book, who) = (Book::new(Timestamp(START)), bob());
        book.tombstone(&id(1, 1), &who, at(1)).unwrap();
        let refused = book.admit(admission(&id(1, 1)));
        assert_eq!(refused, Err(LedgerError::Known(id(1, 1))));
    }

    #[test]
    fn exits_of_settled_jobs_are_kept_only_while_there_is_room() {
        let mut book = Book::new(Timestamp(START));
        settled(&mut book, &id(1, 1), 10 << 20, at(1));
        settled(&mut book, &id(1, 2), 10 << 20, at(1));
        assert_eq!(book.lookup(&id(1, 1)).unwrap().state.exit(), None);
        assert!(book.lookup(&id(1, 2)).unwrap().state.exit().is_some());
        assert_eq!(book.kept_bytes, 10 << 20);
    }

    #[test]
    fn exits_that_nobody_acknowledges_fill_the_ledger() {
        let mut book = Book::new(Timestamp(START));
        book.admit(admission(&id(1, 1))).unwrap();
        book.ended(&id(1, 1), exit(UNACKNOWLEDGED_BYTES)).unwrap();
        let full = book.admit(admission(&id(1, 2)));
        assert!(matches!(full, Err(LedgerError::Full { rows: 1, .. })));
        book.given_up(&id(1, 1), at(1)).unwrap();
        book.admit(admission(&id(1, 2))).unwrap();
    }

    #[test]
    fn the_oldest_settled_rows_are_forgotten_and_stay_refused() {
        let mut book = Book::new(Timestamp(START));
        book.admit(admission(&id(1, 0))).unwrap(); // held: never forgotten
        let many = u64::try_from(SETTLED_ROWS).unwrap();
        for n in 1..=many + 5 {
            settled(&mut book, &id(n, n), 1, at(5_000));
        }
        assert_eq!(book.floor(), Timestamp(START), "all are too young");
        let later = at(PRUNE_AGE_MS + 20_000);
        settled(&mut book, &id(many + 6, 0), 1, later);
        assert_eq!(book.counts.done(), SETTLED_ROWS);
        assert_eq!(book.counts, counted(&book));
        assert_eq!(book.floor(), Timestamp(START + 6));
        assert!(book.lookup(&id(1, 0)).is_some());
        let again = book.admit(admission(&id(3, 3)));
        assert!(matches!(again, Err(LedgerError::BelowFloor { .. })));
    }

    proptest! {
        #[test]
        fn no_id_is_admitted_twice_and_every_row_is_counted(
            asked in prop::collection::vec((1_u64..50, 0_u8..6), 1..200),
        ) {
            let mut book = Book::new(Timestamp(START));
            let mut taken = std::collections::BTreeSet::new();
            for (n, then) in asked {
                let job = id(n, 0);
                let new = match then {
                    0 => book.tombstone(&job, &bob(), at(n)),
                    1.. => book.admit(admission(&job)),
                };
                if new.is_ok() {
                    prop_assert!(taken.insert(n));
                }
                if then > 2 { drop(book.ended(&job, exit(1))); }
                if then == 4 { drop(book.acknowledged(&job, at(n))); }
                if then > 4 { drop(book.given_up(&job, at(n))); }
                prop_assert_eq!(book.counts(), counted(&book));
            }
        }
    }
}
