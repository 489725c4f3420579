use super::wire::Heard;
use crate::cli::exit::Exit;
use crate::cli::render::{one_line, span};
use crate::contract::{Exit as JobExit, ExitReason, JobEvent};

/// What is to be printed of one frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    /// The job's own output, as it is.
    pub(super) output: String,
    /// One-line notes for people.
    pub(super) notes: Vec<String>,
    /// How the command ends, when the job did.
    pub(super) fate: Option<Exit>,
}

/// What was heard of a job until now, so that losses and repeats are seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Story {
    last_seq: u64,
    last_chunk: u64,
}

impl Story {
    /// What one frame says; nothing if it was heard before.
    pub(super) fn hear(&mut self, heard: &Heard) -> Option<Said> {
        let frame = &heard.frame;
        if frame.seq <= self.last_seq {
            return None;
        }
        self.last_seq = frame.seq;
        let mut said = Said::default();
        match &frame.event {
            JobEvent::Started { started_ms } => {
                said.notes.push(format!("started {}", started_ms.to_rfc3339()));
            }
            JobEvent::Stdout { chunk_seq, chunk } => {
                let lost = chunk_seq.saturating_sub(self.last_chunk + 1);
                if lost > 0 {
                    said.notes.push(format!("{lost} chunks of output lost"));
                }
                self.last_chunk = self.last_chunk.max(*chunk_seq);
                said.output.clone_from(chunk);
            }
            JobEvent::Usage { second, cpu_ms, .. } => {
                let cpu = cpu_ms.map(|ms| format!(", {} cpu", plain(ms)));
                let cpu = cpu.unwrap_or_default();
                said.notes.push(format!("second {second} used{cpu}"));
            }
            JobEvent::Exit(exit) => {
                said.notes.push(told(exit));
                said.fate = Some(fate(exit));
            }
        }
        let reasons = heard.reasons.iter().map(|reason| one_line(reason));
        said.notes.extend(reasons);
        Some(said)
    }
}

fn told(exit: &JobExit) -> String {
    let mut text = exit.reason.as_str().to_owned();
    if let Some(code) = exit.code {
        text.push_str(&format!(" {code}"));
    }
    text.push_str(&format!(", {} wall", plain(exit.usage.wall_ms)));
    if let Some(cpu) = exit.usage.cpu_ms {
        text.push_str(&format!(", {} cpu", plain(cpu)));
    }
    if !exit.result.is_null() {
        // JSON has no control characters, but it has letters that turn the
        // direction of writing.
        text.push_str(&one_line(&format!(", result {}", exit.result)));
    }
    text
}

/// 0 only for a program that returned 0.
fn fate(exit: &JobExit) -> Exit {
    match exit.reason {
        ExitReason::Exited if exit.code == Some(0) => Exit::Done,
        ExitReason::Exited
        | ExitReason::Cancelled
        | ExitReason::Ttl
        | ExitReason::Limit
        | ExitReason::Stopped
        | ExitReason::Failed => Exit::NotWell,
    }
}

fn plain(ms: u64) -> String {
    span(ms).replace('\u{a0}', " ")
}
