use crate::fault::Fault;
use crate::poll::Outlet;
use crate::record::Record;
use crate::ring::Ring;
use ovnode::init::{EndedBy, Orders, StderrTo, names};

/// Where a job's bytes go, and how many may.
pub(crate) struct Sinks {
    stdout: Ring,
    /// Where stderr goes, unless it goes to stdout's. It has no limit but
    /// its ring's size: the newest stay.
    stderr: Option<Ring>,
    output_bytes: u64,
    result: Vec<u8>,
    result_bytes: usize,
    over: Option<EndedBy>,
}

impl Sinks {
    /// Opens them, before the job is made.
    pub(crate) fn open(
        record: &Record,
        orders: &Orders,
    ) -> Result<Self, String> {
        let open = |name: &str| {
            Ring::open(&record.file(name))
                .map_err(|err| format!("cannot use `{name}`: {err}"))
        };
        let stderr = match orders.stderr {
            StderrTo::Owner => Some(open(names::STDERR)?),
            StderrTo::Stream => None,
        };
        let most = usize::try_from(orders.result_bytes);
        Ok(Self {
            stdout: open(names::STDOUT)?,
            stderr,
            output_bytes: orders.output_bytes,
            result: Vec::new(),
            result_bytes: most.unwrap_or(usize::MAX),
            over: None,
        })
    }

    /// Takes what came out. What is over a limit is dropped, so the job is
    /// never blocked; that it went over is kept.
    pub(crate) fn take(
        &mut self,
        outlet: Outlet,
        bytes: &[u8],
    ) -> Result<(), Fault> {
        match (outlet, &mut self.stderr) {
            (Outlet::Stderr, Some(ring)) => ring.append(bytes),
            (Outlet::Stdout | Outlet::Stderr, _) => {
                let room = self.output_bytes.saturating_sub(self.stdout.end());
                let room = usize::try_from(room).unwrap_or(usize::MAX);
                if bytes.len() > room {
                    self.over.get_or_insert(EndedBy::Output);
                }
                self.stdout.append(&bytes[..bytes.len().min(room)])
            }
            (Outlet::Result, _) => {
                let room = self.result_bytes.saturating_sub(self.result.len());
                if bytes.len() > room {
                    self.over.get_or_insert(EndedBy::Result);
                }
                let fits = bytes.len().min(room);
                self.result.extend_from_slice(&bytes[..fits]);
                Ok(())
            }
        }
    }

    /// The absolute end of stdout.
    pub(crate) const fn stdout_end(&self) -> u64 {
        self.stdout.end()
    }

    /// What came on fd 3.
    pub(crate) fn result(&self) -> &[u8] {
        &self.result
    }

    /// The limit that the job went over, where it did.
    pub(crate) const fn over(&self) -> Option<EndedBy> {
        self.over
    }
}
