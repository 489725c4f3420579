use super::tombstones::Tombstones;
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
    tombstones: Tombstones,
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
            tombstones: Tombstones::default(),
            unacknowledged_bytes: 0,
            kept: VecDeque::new(),
            kept_bytes: 0,
        }
    }

    pub(super) fn admit(&mut self, new: Admission) -> Result<(), LedgerError> {
        let Admission { id, dispatcher, hash, received } = new;
        self.prune(received);
        self.may_take(&id)?;
        let rows = self.rows.len() - self.tombstones.all();
        let bytes = self.unacknowledged_bytes;
        if rows >= ROWS || bytes >= UNACKNOWLEDGED_BYTES {
            return Err(LedgerError::Full { rows, bytes });
        }
        let state = RowState::Held;
        self.insert(id, Row { dispatcher, hash, received, state });
        Ok(())
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
        self.prune(now);
        self.may_take(id)?;
        self.tombstones.add(by)?;
        self.insert(id.clone(), row);
        Ok(())
    }

    /// Whether a row with this id may be written at all.
    fn may_take(&self, id: &JobId) -> Result<(), LedgerError> {
        let id = id.clone();
        if self.rows.contains_key(&id) {
            return Err(LedgerError::Known(id));
        }
        let (made, floor) = (id.made_ms(), self.floor.0);
        if made <= floor {
            return Err(LedgerError::BelowFloor { id, made, floor });
        }
        Ok(())
    }

    fn insert(&mut self, id: JobId, row: Row) {
        *self.counts.of(&row.state) += 1;
        self.rows.insert(id, row);
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
        if row.state == RowState::Tombstone {
            self.tombstones.drop_one(&row.dispatcher);
        }
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
mod tests;
