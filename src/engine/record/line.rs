use super::durable::host;
use crate::engine::EngineError;
use crate::init::{FromInit, ToInit, names};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::timeout;

/// PID 1 reads its socket whenever it is not writing a few bytes: one that
/// has not taken the orders after this long is stopped or throttled.
const SEND: Duration = Duration::from_secs(10);

/// What PID 1 says is short; a longer line is not a word of its.
const LONGEST: usize = 64 * 1024;

/// A connection of PID 1.
#[derive(Debug)]
pub struct Line {
    stream: UnixStream,
    /// What was read of lines that are not whole yet.
    held: Vec<u8>,
}

impl Line {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self { stream, held: Vec::new() }
    }

    /// Says something. What became of it when this fails is not known: PID 1
    /// may have read it.
    ///
    /// # Errors
    ///
    /// [`EngineError::InitAway`] if it was not taken within 10 s.
    pub async fn send(&mut self, word: &ToInit) -> Result<(), EngineError> {
        let doing = "telling it something";
        let away = |source| EngineError::InitAway { doing, source };
        let mut line = serde_json::to_vec(word)
            .map_err(|fault| away(Some(fault.into())))?;
        line.push(b'\n');
        match timeout(SEND, self.stream.write_all(&line)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(source)) => Err(away(Some(source))),
            Err(_late) => Err(away(None)),
        }
    }

    /// The next thing that PID 1 says; `None` once the connection is over,
    /// or says what no PID 1 of this version does. Cancel-safe: a line that
    /// was read in part is kept for the next call.
    pub async fn recv(&mut self) -> Option<FromInit> {
        loop {
            if let Some(line) = self.whole_line() {
                return understood(&line);
            }
            if self.held.len() > LONGEST {
                tracing::warn!("a sandbox's init says a line without end");
                return None;
            }
            match self.stream.read_buf(&mut self.held).await {
                Ok(0) | Err(_) => return None,
                Ok(_more) => {}
            }
        }
    }

    fn whole_line(&mut self) -> Option<Vec<u8>> {
        let end = self.held.iter().position(|byte| *byte == b'\n')?;
        let rest = self.held.split_off(end + 1);
        Some(std::mem::replace(&mut self.held, rest))
    }
}

fn understood(line: &[u8]) -> Option<FromInit> {
    serde_json::from_slice(line)
        .inspect_err(|fault| {
            tracing::warn!(error = %fault, "a sandbox's init is not understood");
        })
        .ok()
}

/// Listens in a record. The socket's path may be longer than the kernel takes
/// for one (108 bytes), so it is named by way of the open folder.
pub(super) fn listen(record: &Path) -> Result<UnixListener, EngineError> {
    let path = record.join(names::SOCKET);
    let fault = |source| host("listen on", &path, source);
    let folder = File::open(record).map_err(fault)?;
    let short =
        format!("/proc/self/fd/{}/{}", folder.as_raw_fd(), names::SOCKET);
    UnixListener::bind(short).map_err(fault)
}
