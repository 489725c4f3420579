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
    let text =
        format!("job_{}{}{}", digits(START + ms, 10), "0000", digits(n, 12));
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

#[test]
fn cancels_of_one_dispatcher_keep_no_job_out_and_no_other_cancel() {
    let mut book = Book::new(Timestamp(START));
    let cancelled =
        (0..).take_while(|n| book.tombstone(&id(1, *n), &bob(), at(2)).is_ok());
    let cancelled = cancelled.count();
    assert!(cancelled < 5_000, "{cancelled} of one dispatcher");
    let carol = "carol".to_owned().try_into().unwrap();
    book.tombstone(&id(1, 90_001), &carol, at(2)).unwrap();
    book.admit(admission(&id(1, 90_002))).unwrap();
    assert_eq!(book.counts(), counted(&book));
}

#[test]
fn cancels_of_all_dispatchers_keep_no_job_out() {
    let mut book = Book::new(Timestamp(START));
    for n in 0..200_000 {
        let by = format!("d{}", n % 500).try_into().unwrap();
        drop(book.tombstone(&id(1, n), &by, at(2)));
    }
    book.admit(admission(&id(1, 900_000))).unwrap();
    assert!(book.rows.len() < 50_000, "{} rows", book.rows.len());
}

#[test]
fn a_dispatcher_may_cancel_again_when_its_old_ones_are_forgotten() {
    let mut book = Book::new(Timestamp(START));
    let crowd = |n: u64| format!("d{}", n % 30).try_into().unwrap();
    for n in 0..60_000 {
        drop(book.tombstone(&id(1, n), &crowd(n), at(2)));
    }
    let full = book.tombstone(&id(1, 90_000), &bob(), at(2));
    assert!(matches!(full, Err(LedgerError::TooManyCancels { .. })));
    let later = PRUNE_AGE_MS + 10_000;
    book.tombstone(&id(later, 1), &bob(), at(later)).unwrap();
    assert_eq!(book.counts(), counted(&book));
}
