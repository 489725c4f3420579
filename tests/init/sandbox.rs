#![expect(clippy::unwrap_used, reason = "a test that cannot set up fails")]
use ovnode::init::ring::{RingHeader, spans};
use ovnode::init::{
    ExitRecord, FromInit, Orders, Phase, StderrTo, ToInit, names,
};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longer than anything here takes on the slowest machine; a test that hangs
/// fails after it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// The job's user in every test.
pub(crate) const UID: u32 = 200_000;

/// One sandbox, with the test as its daemon.
pub(crate) struct Sandbox {
    pub(crate) dir: TempDir,
    listener: UnixListener,
    init: Option<Child>,
}

/// The daemon's end of a connection.
pub(crate) struct Line {
    stream: BufReader<UnixStream>,
    /// The last end of stdout that was told.
    told: u64,
}

/// How it all ended.
pub(crate) struct Ended {
    pub(crate) record: ExitRecord,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) result: Option<Vec<u8>>,
}

/// Orders to run a shell script, with limits that nothing reaches.
pub(crate) fn script(text: &str) -> Orders {
    command(&["/bin/sh", "-c", text])
}

/// Orders to run a command.
pub(crate) fn command(argv: &[&str]) -> Orders {
    Orders {
        argv: argv.iter().map(ToString::to_string).collect(),
        env: BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]),
        cwd: "/".into(),
        uid: UID,
        gid: UID,
        stdin: String::new(),
        stderr: StderrTo::Stream,
        wall_ms: 3_600_000,
        cpu_ms: 3_600_000,
        ttl_boot_ms: u64::MAX,
        grace_ms: 3_600_000,
        output_bytes: 1 << 30,
        result_bytes: 1 << 20,
        open_files: 256,
        file_bytes: 1 << 30,
    }
}

/// Runs a job from its start to its end.
pub(crate) fn run(orders: Orders) -> Ended {
    Sandbox::new().run(orders)
}

impl Sandbox {
    /// A sandbox whose rings hold a megabyte.
    pub(crate) fn new() -> Self {
        Self::with_ring(1 << 20)
    }

    pub(crate) fn with_ring(capacity: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for name in [names::STDOUT, names::STDERR] {
            let header = RingHeader::fresh(capacity).unwrap();
            let file = File::create(dir.path().join(name)).unwrap();
            file.set_len(header.file_bytes()).unwrap();
            file.write_all_at(&header.encode(), 0).unwrap();
        }
        let listener =
            UnixListener::bind(dir.path().join(names::SOCKET)).unwrap();
        Self { dir, listener, init: None }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Starts PID 1.
    pub(crate) fn start(&mut self, args: &[&str]) {
        self.start_with("", args);
    }

    /// Starts PID 1 after a shell has done something. It closes what leaked
    /// into the tests first, as a container engine does.
    pub(crate) fn start_with(&mut self, before: &str, args: &[&str]) {
        let text = "for fd in /proc/self/fd/*; do fd=${fd##*/}; \
            [ \"$fd\" -gt 2 ] && eval \"exec $fd>&-\"; done; ";
        let text = format!("{text}{before}exec \"$@\"");
        let mut command = Command::new("bash");
        command.args(["-c", &text, "bash"]);
        command.arg(env!("CARGO_BIN_EXE_ovnode-init"));
        command.arg("--record").arg(self.path()).args(args);
        self.init = Some(command.spawn().unwrap());
    }

    /// Waits for PID 1 to connect.
    pub(crate) fn accept(&self) -> Line {
        self.listener.set_nonblocking(true).unwrap();
        let stream = within(|| self.listener.accept().ok()).0;
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Line { stream: BufReader::new(stream), told: 0 }
    }

    /// Starts PID 1 and gives it orders; back once the job runs.
    pub(crate) fn begin(&mut self, orders: Orders, args: &[&str]) -> Line {
        self.start(args);
        let mut line = self.accept();
        line.run(orders);
        assert!(matches!(line.hear(), FromInit::Started { .. }));
        line
    }

    pub(crate) fn run(mut self, orders: Orders) -> Ended {
        self.start(&[]);
        let mut line = self.accept();
        line.run(orders);
        self.end(line)
    }

    /// Reads all that PID 1 says, and what it leaves.
    pub(crate) fn end(mut self, mut line: Line) -> Ended {
        while line.hear() != FromInit::Ended {}
        let told = line.told;
        drop(line);
        assert!(self.exit().success());
        let ended = self.left();
        assert_eq!(ended.record.stdout_end, told);
        ended
    }

    /// Waits for PID 1 to exit.
    pub(crate) fn exit(&mut self) -> ExitStatus {
        let init = self.init.as_mut().unwrap();
        within(|| init.try_wait().unwrap())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.init.as_ref().unwrap().id()
    }

    /// What lies in the record.
    pub(crate) fn left(&self) -> Ended {
        let exit = fs::read(self.path().join(names::EXIT)).unwrap();
        let record: ExitRecord = serde_json::from_slice(&exit).unwrap();
        let result = fs::read(self.path().join(names::RESULT)).ok();
        let kept = result.as_ref().map_or(0, |bytes| bytes.len() as u64);
        assert_eq!(record.result_bytes, kept);
        Ended {
            record,
            stdout: self.ring(names::STDOUT),
            stderr: self.ring(names::STDERR),
            result,
        }
    }

    /// What is still in a ring.
    pub(crate) fn ring(&self, name: &str) -> Vec<u8> {
        let file = fs::read(self.path().join(name)).unwrap();
        let header = RingHeader::decode(&file).unwrap();
        let from = header.oldest();
        let len = usize::try_from(header.marks().end - from).unwrap();
        let mut bytes = Vec::new();
        for (at, part) in spans(header.capacity(), from, len) {
            let at = usize::try_from(at).unwrap();
            bytes.extend_from_slice(&file[at..at + part.len()]);
        }
        bytes
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if let Some(init) = &mut self.init {
            init.kill().ok();
            init.wait().ok();
        }
    }
}

impl Line {
    pub(crate) fn run(&mut self, orders: Orders) {
        let phase = Phase::Waiting;
        assert_eq!(self.hear(), FromInit::Ready { phase });
        self.say(&ToInit::Run(Box::new(orders)));
    }

    pub(crate) fn say(&mut self, word: &ToInit) {
        let mut line = serde_json::to_vec(word).unwrap();
        line.push(b'\n');
        self.say_raw(&line);
    }

    pub(crate) fn say_raw(&mut self, line: &[u8]) {
        self.stream.get_mut().write_all(line).unwrap();
    }

    pub(crate) fn hear(&mut self) -> FromInit {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        let word = serde_json::from_str(&line).unwrap();
        if let FromInit::Output { end } = word {
            self.told = end;
        }
        word
    }

    /// Waits until stdout is as long as that.
    pub(crate) fn output(&mut self, end: u64) {
        while !matches!(self.hear(), FromInit::Output { end: e } if e >= end) {}
    }
}

/// Waits for a value, with a limit.
pub(crate) fn within<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = look() {
            return value;
        }
        assert!(start.elapsed() < PATIENCE, "nothing came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// CLOCK_BOOTTIME.
pub(crate) fn boot_ms() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let now = Duration::try_from(now).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}
