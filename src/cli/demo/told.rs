use crate::contract::{JobEvent, JobFrame, ResourceOffer};
use serde_json::Value;

/// The subject without what is the same in all of them.
fn short(subject: &str) -> &str {
    subject.split_once('.').map_or(subject, |(_, rest)| rest)
}

/// An offer as it passed.
pub(super) fn offer(
    subject: &str,
    offer: &ResourceOffer,
    reasons: &[String],
) -> String {
    let mut line = format!("{}\n    {}", short(subject), offer.health.status);
    if let Some(capacity) = &offer.capacity {
        let cores = capacity.cpu.and_then(|cpu| cpu.available_cores);
        let memory = capacity.memory.and_then(|it| it.available_mb);
        let workers = capacity.workers.iter().flatten();
        for (name, free) in workers {
            line += &format!(", {name}: {free} free");
        }
        if let Some(cores) = cores {
            line += &format!(", {:.1} cores", cores.get());
        }
        if let Some(memory) = memory {
            line += &format!(", {:.0} MB", memory.get());
        }
    }
    for capability in &offer.capabilities {
        line += &format!(", {capability}");
    }
    for reason in reasons {
        line += &format!("\n    Ov-Reason: {reason}");
    }
    line
}

/// A request as it is sent.
pub(super) fn request(node: &str, what: &Value) -> String {
    format!("node.{node}.in.demo\n    {what}")
}

/// A frame as it passed.
pub(super) fn frame(kind: &str, frame: &JobFrame) -> String {
    let (id, seq) = (&frame.id, frame.seq);
    let told = match &frame.event {
        JobEvent::Started { started_ms } => {
            format!("at {}", started_ms.to_rfc3339())
        }
        JobEvent::Stdout { chunk_seq, chunk } => {
            format!("chunk {chunk_seq}: {chunk:?}")
        }
        JobEvent::Usage { second, cpu_ms, .. } => {
            let cpu = cpu_ms
                .map_or("not measured".to_owned(), |ms| format!("{ms} ms"));
            format!("second {second} was used, CPU {cpu}")
        }
        JobEvent::Exit(exit) => {
            let code = exit.code.map_or("none".to_owned(), |c| c.to_string());
            let (reason, result) = (exit.reason.as_str(), &exit.result);
            let wall = exit.usage.wall_ms;
            format!("{reason}, code {code}, result {result}, {wall} ms")
        }
    };
    format!("job.{id}.…{kind} (seq {seq})\n    {told}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{JobId, Timestamp};

    #[test]
    fn a_chunk_is_shown_with_its_control_bytes_escaped() {
        let id = "job_01JAB2C3D4E5F6G7H8J9K0MNPQ".to_owned();
        let told = frame(
            "stdout",
            &JobFrame {
                seq: 2,
                ts: Timestamp(1),
                id: JobId::try_from(id).unwrap(),
                event: JobEvent::Stdout {
                    chunk_seq: 1,
                    chunk: "\u{1b}[31mred\n".to_owned(),
                },
            },
        );
        assert!(!told.contains('\u{1b}'), "{told}");
        assert!(told.ends_with(r#"chunk 1: "\u{1b}[31mred\n""#), "{told}");
    }
}
