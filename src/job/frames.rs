use crate::contract::{
    Clock, DispatcherId, JobEvent, JobFrame, JobId, NodeId, Reason, Subjects,
};
use crate::link::Outgoing;
use std::sync::Arc;

/// Makes one job's frames, each numbered above the one before.
pub(crate) struct Frames {
    subjects: Subjects,
    node: NodeId,
    id: JobId,
    dispatcher: DispatcherId,
    clock: Arc<dyn Clock>,
    last_seq: u64,
}

impl Frames {
    pub(crate) fn new(
        (subjects, node): (Subjects, NodeId),
        (id, dispatcher): (JobId, DispatcherId),
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { subjects, node, id, dispatcher, clock, last_seq: 0 }
    }

    /// The next frame.
    pub(crate) fn make(
        &mut self,
        event: JobEvent,
        reasons: Vec<Reason>,
    ) -> Outgoing {
        self.last_seq += 1;
        let (kind, kept) = match &event {
            JobEvent::Started { .. } => ("started", true),
            JobEvent::Stdout { .. } => ("stdout", false),
            JobEvent::Usage { .. } => ("usage", false),
            JobEvent::Exit(_) => ("exit", true),
        };
        let (id, of) = (&self.id, &self.dispatcher);
        let subject = self.subjects.job(id, of, &self.node, kind);
        // A stream that keeps these drops a repeat by its id.
        let message_id = kept.then(|| format!("{id}.{kind}"));
        let frame = JobFrame {
            seq: self.last_seq,
            ts: self.clock.now().wall,
            id: self.id.clone(),
            event,
        };
        let payload = frame.to_json().into();
        Outgoing { subject, payload, reasons, message_id }
    }
}
