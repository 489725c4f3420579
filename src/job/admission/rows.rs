use super::fit;
use super::view::{Admitted, Asked, NodeView, ReceivedFrame, Refusal, Verdict};
use crate::contract::{
    DispatcherId, Envelope, EnvelopeBody, Fault, FaultCode, FaultKind, Faults,
    Job, JobId, NetPolicy, Now,
};
use crate::ledger::{Row, RowState};
use serde_json::Value;

/// How far ahead of the clock an id may have been made: what two clocks of
/// machines in order differ by, and far more.
const AHEAD_MS: u64 = 300_000;
/// How many faults of a document an answer names; the others are counted.
const FAULTS_NAMED: usize = 8;

/// What becomes of a frame of type `job`: the first row that holds answers.
pub(crate) fn admit(
    view: &NodeView<'_>,
    received: &ReceivedFrame<'_>,
    now: Now,
) -> Verdict {
    judge(view, received, now).unwrap_or_else(Verdict::Refuse)
}

fn judge(
    view: &NodeView<'_>,
    received: &ReceivedFrame<'_>,
    now: Now,
) -> Result<Verdict, Refusal> {
    let (seq, job) = frame(received)?;
    let sent = job.get("id").and_then(Value::as_str).map(str::to_owned);
    let asked = Asked { seq, id: sent };
    let id = job_id(&asked)?;
    let parsed = Job::parse(&job);
    if let Some(row) = (view.lookup)(&id) {
        return known(&asked, &id, &row, (received.dispatcher, parsed));
    }
    in_time(view, &asked, &id, now)?;
    let job = well_formed(view, &asked, &job, parsed)?;
    let (class, artifact) = fit::fits(view, &asked, &job)?;
    let admitted = Admitted { seq, job, artifact, class };
    Ok(Verdict::Admit(Box::new(admitted)))
}

fn frame(received: &ReceivedFrame<'_>) -> Result<(u64, Value), Refusal> {
    let envelope = Envelope::parse(received.payload).map_err(|fault| {
        Asked { seq: fault.seq, id: fault.id }.refuse(fault.code, fault.message)
    })?;
    let seq = envelope.seq;
    let bad = |id: Option<&str>, message: String| {
        let asked = Asked { seq, id: id.map(str::to_owned) };
        asked.refuse(FaultCode::BadFrame, message)
    };
    let job = match envelope.body {
        EnvelopeBody::Job(job) => job,
        EnvelopeBody::Cancel(id) | EnvelopeBody::ExitAck(id) => {
            let message = "the frame is not of type `job`".to_owned();
            return Err(bad(Some(id.as_str()), message));
        }
    };
    let (size, most) = (received.size, Envelope::MAX_BYTES);
    if size > most {
        let id = job.get("id").and_then(Value::as_str);
        let message = format!(
            "the message has {size} bytes with its headers, and {most} is \
             the most"
        );
        return Err(bad(id, message));
    }
    Ok((seq, job))
}

fn job_id(asked: &Asked) -> Result<JobId, Refusal> {
    let bad = |message: String| asked.refuse(FaultCode::BadValue, message);
    let Some(sent) = asked.id.clone() else {
        return Err(bad("the job has no id that is a string".to_owned()));
    };
    JobId::try_from(sent).map_err(|err| bad(err.to_string()))
}

/// A repeat is answered from the ledger, whatever the node could do now.
fn known(
    asked: &Asked,
    id: &JobId,
    row: &Row,
    (from, parsed): (&DispatcherId, Result<Job, Faults>),
) -> Result<Verdict, Refusal> {
    if row.dispatcher != *from {
        let message = format!("{id} is not a job of `{from}`");
        return Err(asked.refuse(FaultCode::NotAllowed, message));
    }
    let bad = |message: String| asked.refuse(FaultCode::BadValue, message);
    let ended = match &row.state {
        RowState::Tombstone => {
            let message = format!("{id} was cancelled before it came");
            return Err(bad(message));
        }
        RowState::Held => false,
        RowState::Ended(_) | RowState::Settled(_) | RowState::Unacked(_) => {
            true
        }
    };
    if !parsed.is_ok_and(|job| job.hash() == row.hash) {
        return Err(bad(format!("{id} is the id of another job here")));
    }
    let (seq, id) = (asked.seq, id.clone());
    Ok(if ended {
        Verdict::Ended { seq, id }
    } else {
        Verdict::Held { seq, id }
    })
}

fn in_time(
    view: &NodeView<'_>,
    asked: &Asked,
    id: &JobId,
    now: Now,
) -> Result<(), Refusal> {
    let (made, floor) = (id.made_ms(), view.floor.0);
    let message = if made <= floor {
        format!(
            "{id} was made at {made} ms; this node takes no id made up to \
             {floor} ms, as it may have forgotten it"
        )
    } else if made > now.wall.0.saturating_add(AHEAD_MS) {
        let ahead = made.saturating_sub(now.wall.0);
        format!(
            "{id} was made {ahead} ms ahead of this node's clock, and \
             {AHEAD_MS} ms is the most"
        )
    } else {
        return Ok(());
    };
    Err(asked.refuse(FaultCode::BadValue, message))
}

/// The rows about the job's document alone.
fn well_formed(
    view: &NodeView<'_>,
    asked: &Asked,
    sent: &Value,
    parsed: Result<Job, Faults>,
) -> Result<Job, Refusal> {
    let faults = match &parsed {
        Ok(_) => &[][..],
        Err(Faults(faults)) => faults,
    };
    let refused = |code, which: &dyn Fn(&Fault) -> bool| {
        let found: Vec<_> = faults.iter().filter(|f| which(f)).collect();
        if found.is_empty() {
            Ok(())
        } else {
            Err(asked.refuse(code, sentence(&found)))
        }
    };
    let is = |f: &Fault, at: &str, kind| f.path == at && f.kind == kind;
    refused(FaultCode::BadFrame, &|f| {
        matches!(f.kind, FaultKind::Type | FaultKind::UnknownKey)
    })?;
    refused(FaultCode::BadValue, &|f| is(f, "/class", FaultKind::Missing))?;
    refused(FaultCode::Unsupported, &|f| is(f, "/class", FaultKind::Value))?;
    refused(FaultCode::BadValue, &|f| {
        f.path == "/artifact" || f.path.starts_with("/artifact/")
    })?;
    reach(view, asked, sent)?;
    parsed.map_err(|Faults(faults)| {
        let all: Vec<_> = faults.iter().collect();
        asked.refuse(FaultCode::BadValue, sentence(&all))
    })
}

/// The reach is judged before other values, so from the document itself.
fn reach(
    view: &NodeView<'_>,
    asked: &Asked,
    sent: &Value,
) -> Result<(), Refusal> {
    let Some(net) = sent.get("net").and_then(Value::as_str) else {
        return Ok(());
    };
    let message = match NetPolicy::from_name(net) {
        Some(wanted) if wanted <= view.plan.net => return Ok(()),
        Some(_) => format!(
            "net wants `{net}`, and this node allows `{}` at most",
            view.plan.net.as_str()
        ),
        None => format!(
            "net must be one of `deny`, `none`, `openvibe-only`, `public`, \
             and is `{}`",
            net.chars().take(80).collect::<String>()
        ),
    };
    Err(asked.refuse(FaultCode::Unsupported, message))
}

fn sentence(faults: &[&Fault]) -> String {
    let named = faults.iter().take(FAULTS_NAMED).map(ToString::to_string);
    let mut said = named.collect::<Vec<_>>().join("; ");
    if let Some(more) = faults.len().checked_sub(FAULTS_NAMED)
        && more > 0
    {
        said.push_str(&format!("; and {more} more"));
    }
    said
}
