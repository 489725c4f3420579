use super::view::{Asked, Lookup, Refusal};
use crate::contract::{
    DispatcherId, Envelope, EnvelopeBody, FaultCode, JobId, Now, Timestamp,
};
use crate::ledger::{Row, RowState};

/// How far ahead of the clock an id may be and still get a tombstone: one
/// beyond it is refused as a job too, and would only raise the floor.
const AHEAD_MS: u64 = 300_000;

/// What becomes of a cancel or an acknowledgement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ControlVerdict {
    /// It runs, or is about to: end it, then acknowledge.
    Cancel { seq: u64, id: JobId },
    /// It has ended before: acknowledge, and say its exit again.
    Ended { seq: u64, id: JobId },
    /// Its dispatcher knows how it ended: settle it, then acknowledge.
    Settle { seq: u64, id: JobId },
    /// It was never seen: refuse its id for good, then say this.
    Entomb { id: JobId, refusal: Refusal },
    /// Nothing is done.
    Refuse(Refusal),
}

/// What becomes of a cancel or an acknowledgement, by what the ledger knows.
pub(crate) fn control(
    from: &DispatcherId,
    payload: &[u8],
    (lookup, floor): (Lookup<'_>, Timestamp),
    now: Now,
) -> ControlVerdict {
    let envelope = match Envelope::parse(payload) {
        Ok(envelope) => envelope,
        Err(fault) => {
            let asked = Asked { seq: fault.seq, id: fault.id };
            let refusal = asked.refuse(fault.code, fault.message);
            return ControlVerdict::Refuse(refusal);
        }
    };
    let seq = envelope.seq;
    let asked = |id: Option<&JobId>| Asked {
        seq,
        id: id.map(|id| id.as_str().to_owned()),
    };
    match envelope.body {
        EnvelopeBody::Cancel(id) => {
            let age = (floor, now.wall);
            cancel(&asked(Some(&id)), lookup(&id), (from, id), age)
        }
        EnvelopeBody::ExitAck(id) => {
            acknowledge(&asked(Some(&id)), lookup(&id), from, id)
        }
        EnvelopeBody::Job(_) => {
            let said = "a job is not a cancel or an acknowledgement";
            let refusal = asked(None).refuse(FaultCode::BadFrame, said);
            ControlVerdict::Refuse(refusal)
        }
    }
}

fn cancel(
    asked: &Asked,
    row: Option<Row>,
    (from, id): (&DispatcherId, JobId),
    (floor, now): (Timestamp, Timestamp),
) -> ControlVerdict {
    let seq = asked.seq;
    let Some(row) = row else {
        let message = format!("{id} is not known here, and never will run");
        let refusal = asked.refuse(FaultCode::BadValue, message);
        let made = id.made_ms();
        let refused_anyway =
            made <= floor.0 || made > now.0.saturating_add(AHEAD_MS);
        return if refused_anyway {
            ControlVerdict::Refuse(refusal)
        } else {
            ControlVerdict::Entomb { id, refusal }
        };
    };
    if let Err(refusal) = own(asked, &row, from, &id) {
        return ControlVerdict::Refuse(refusal);
    }
    match row.state {
        RowState::Held => ControlVerdict::Cancel { seq, id },
        RowState::Ended(_) | RowState::Settled(_) | RowState::Unacked(_) => {
            ControlVerdict::Ended { seq, id }
        }
        RowState::Tombstone => {
            let message = format!("{id} was cancelled before it came");
            let refusal = asked.refuse(FaultCode::BadValue, message);
            ControlVerdict::Refuse(refusal)
        }
    }
}

fn acknowledge(
    asked: &Asked,
    row: Option<Row>,
    from: &DispatcherId,
    id: JobId,
) -> ControlVerdict {
    let refuse = |said: &str| {
        let message = format!("{id} {said}");
        ControlVerdict::Refuse(asked.refuse(FaultCode::BadValue, message))
    };
    let Some(row) = row else { return refuse("is not known here") };
    if let Err(refusal) = own(asked, &row, from, &id) {
        return ControlVerdict::Refuse(refusal);
    }
    match row.state {
        RowState::Held => refuse("has not ended"),
        RowState::Tombstone => refuse("never ran here"),
        RowState::Ended(_) | RowState::Settled(_) | RowState::Unacked(_) => {
            ControlVerdict::Settle { seq: asked.seq, id }
        }
    }
}

fn own(
    asked: &Asked,
    row: &Row,
    from: &DispatcherId,
    id: &JobId,
) -> Result<(), Refusal> {
    if row.dispatcher == *from {
        return Ok(());
    }
    let message = format!("{id} is not a job of `{from}`");
    Err(asked.refuse(FaultCode::NotAllowed, message))
}
