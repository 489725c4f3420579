use super::chunk::{Chunk, Chunker, READ_BYTES};
use super::frames::Frames;
use super::meter::{Meter, Second};
use super::sandbox::{Look, Sandbox};
use super::step::Exec;
use crate::contract::{JobEvent, MonoMs, Reason, ReasonCode};
use crate::link::Outgoing;
use std::collections::VecDeque;
use std::time::Duration;

/// What a job has to say before its exit: drawn one frame at a time when
/// there is room for it, so that output which cannot leave stays in the
/// sandbox's ring and the daemon's memory stays flat.
pub(crate) struct Pump {
    chunker: Chunker,
    started: Option<(Exec, Meter)>,
    say_started: bool,
    chunks: VecDeque<Chunk>,
    /// Up to where the ring was read.
    at: u64,
    /// Whether the ring may hold more.
    more: bool,
    broken: Option<String>,
}

impl Pump {
    pub(crate) fn new() -> Self {
        Self {
            chunker: Chunker::new(),
            started: None,
            say_started: false,
            chunks: VecDeque::new(),
            at: 0,
            more: false,
            broken: None,
        }
    }

    /// The job runs since `exec`; its seconds count from there.
    pub(crate) fn started(&mut self, exec: Exec, cpu: Option<Duration>) {
        self.started = Some((exec, Meter::new(exec.mono, cpu)));
        self.say_started = true;
    }

    /// The ring may hold more than was read.
    pub(crate) fn more(&mut self) {
        self.more = true;
    }

    /// How much of its output was read.
    pub(crate) fn read_bytes(&self) -> u64 {
        self.at
    }

    /// The job was seen alive.
    pub(crate) fn alive(&mut self, now: MonoMs, look: &Look) {
        if let Some((_, meter)) = &mut self.started {
            meter.alive(now, look.cpu);
        }
    }

    /// The job ended after `wall_ms` by its record: gives what `wall_ms` is
    /// once it covers every second.
    pub(crate) fn ended(&mut self, wall_ms: u64) -> u64 {
        self.more = true;
        let Some((_, meter)) = &mut self.started else { return wall_ms };
        meter.ended(Duration::from_millis(wall_ms));
        meter.covered(wall_ms)
    }

    /// When the next second is due.
    pub(crate) fn next_due(&self) -> Option<MonoMs> {
        self.started.as_ref().map(|(_, meter)| meter.next_due())
    }

    /// The next frame, if anything is due; output is read from `from`.
    pub(crate) fn next<S: Sandbox>(
        &mut self,
        frames: &mut Frames,
        from: Option<&mut S>,
    ) -> Option<Outgoing> {
        let event = self.due().or_else(|| self.output(from))?;
        Some(frames.make(event, Vec::new()))
    }

    /// After the sandbox is gone and `next` gave nothing more: the output's
    /// unfinished end, if there is one.
    pub(crate) fn finish(&mut self, frames: &mut Frames) -> Option<Outgoing> {
        self.chunks.extend(self.chunker.finish());
        let event = self.chunk()?;
        Some(frames.make(event, Vec::new()))
    }

    /// What the exit must say about the output.
    pub(crate) fn reasons(&self) -> Vec<Reason> {
        let lost = self.chunker.lost();
        let lost = (lost > 0).then(|| {
            let said =
                format!("{lost} bytes were overwritten before they left");
            Reason::new(ReasonCode::OutputLost, said)
        });
        let broken = self.broken.clone();
        let broken =
            broken.map(|said| Reason::new(ReasonCode::OutputLost, said));
        lost.into_iter().chain(broken).collect()
    }

    /// What does not come from the ring: seconds go before output, as there
    /// is one of them a second and they are what is paid for.
    fn due(&mut self) -> Option<JobEvent> {
        let (exec, meter) = self.started.as_mut()?;
        let started_ms = exec.wall;
        if std::mem::take(&mut self.say_started) {
            return Some(JobEvent::Started { started_ms });
        }
        let Second { second, cpu_ms } = meter.take()?;
        Some(JobEvent::Usage { started_ms, second, cpu_ms })
    }

    fn output<S: Sandbox>(&mut self, from: Option<&mut S>) -> Option<JobEvent> {
        if let Some(event) = self.chunk() {
            return Some(event);
        }
        let ring = from?;
        // Each turn reads on until a character is whole or the ring is empty.
        while self.more && self.chunks.is_empty() {
            match ring.read(self.at, READ_BYTES) {
                Ok(piece) => self.take(piece.start, &piece.bytes),
                Err(said) => {
                    tracing::warn!(error = %said, "output cannot be read");
                    (self.more, self.broken) = (false, Some(said));
                }
            }
        }
        self.chunk()
    }

    fn take(&mut self, start: u64, bytes: &[u8]) {
        let lost = start.saturating_sub(self.at);
        if lost > 0 {
            self.chunks.extend(self.chunker.gap(lost));
        }
        self.more = !bytes.is_empty();
        self.at = start.max(self.at) + bytes.len() as u64;
        self.chunks.extend(self.chunker.feed(bytes));
    }

    fn chunk(&mut self) -> Option<JobEvent> {
        let Chunk { seq, text } = self.chunks.pop_front()?;
        Some(JobEvent::Stdout { chunk_seq: seq, chunk: text })
    }
}
