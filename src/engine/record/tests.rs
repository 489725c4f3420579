use super::{Record, RingRead, RingSizes};
use crate::contract::Bytes;
use crate::engine::{EngineError, SandboxId};
use crate::init::ring::{MARKS_AT, RingMarks, spans};
use crate::init::{FromInit, Identity, Phase, ToInit, names};
use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

const SOON: Duration = Duration::from_secs(20);

fn sandbox() -> SandboxId {
    SandboxId("sb_01JZ0000000000000000000000".to_owned())
}

fn made(stdout: u64) -> (TempDir, Record) {
    let root = tempfile::tempdir().unwrap();
    let rings = RingSizes { stdout: Bytes(stdout), stderr: None };
    let record = Record::create(root.path(), &sandbox(), 70_001, rings);
    (root, record.unwrap())
}

/// What PID 1 does: marks what it claims, writes, marks the end.
fn write(record: &Record, capacity: u64, from: u64, bytes: &[u8]) {
    let path = record.path().join(names::STDOUT);
    let ring = OpenOptions::new().write(true).open(path).unwrap();
    let end = from + bytes.len() as u64;
    for (at, part) in spans(capacity, from, bytes.len()) {
        ring.write_all_at(&bytes[part], at).unwrap();
    }
    let marks = RingMarks { end, claimed: end };
    ring.write_all_at(&marks.encode(), MARKS_AT).unwrap();
}

async fn init(record: &Record) -> UnixStream {
    let socket = record.path().join(names::SOCKET);
    UnixStream::connect(socket).await.unwrap()
}

#[tokio::test]
async fn a_record_is_roots_alone_and_takes_its_room_at_once() {
    let (_root, record) = made(100_000);
    let folder = std::fs::metadata(record.path()).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    let ring = std::fs::metadata(record.path().join(names::STDOUT)).unwrap();
    assert_eq!(ring.len(), 104_096);
    let blocks = std::os::unix::fs::MetadataExt::blocks(&ring);
    assert!(blocks * 512 >= 104_096);
    let passwd = record.path().join(crate::engine::identity::PASSWD);
    assert!(std::fs::read_to_string(passwd).unwrap().contains(":70001:"));
}

#[tokio::test]
async fn a_sandbox_has_one_record_and_never_a_second() {
    let (root, _record) = made(10);
    let rings = RingSizes { stdout: Bytes(10), stderr: None };
    let again = Record::create(root.path(), &sandbox(), 70_001, rings);
    assert!(matches!(again, Err(EngineError::Host { .. })));
    assert_eq!(Record::list(root.path()).unwrap(), [sandbox()]);
}

#[tokio::test]
async fn what_could_not_be_made_leaves_nothing_behind() {
    let root = tempfile::tempdir().unwrap();
    let rings = RingSizes { stdout: Bytes(0), stderr: None };
    assert!(Record::create(root.path(), &sandbox(), 70_001, rings).is_err());
    assert_eq!(Record::list(root.path()).unwrap(), []);
}

#[tokio::test]
async fn a_name_that_climbs_is_nobodys_record() {
    let root = tempfile::tempdir().unwrap();
    for name in ["..", "a/b", "", "/etc"] {
        let sandbox = SandboxId(name.to_owned());
        assert!(Record::open(root.path(), &sandbox).is_err(), "{name}");
    }
}

#[tokio::test]
async fn a_later_daemon_finds_the_record_and_its_pid_1_finds_the_daemon() {
    let (root, record) = made(10);
    let whose = Identity {
        job: "job_01".to_owned(),
        dispatcher: "d".to_owned(),
        hash: "00".to_owned(),
    };
    record.identify(&whose).unwrap();
    drop(record);
    let record = Record::open(root.path(), &sandbox()).unwrap().unwrap();
    assert_eq!(record.identity().unwrap(), Some(whose));
    let _init = init(&record).await;
    record.accept(SOON).await.unwrap();
    record.remove().unwrap();
    assert!(Record::open(root.path(), &sandbox()).unwrap().is_none());
}

#[tokio::test]
async fn lines_pass_both_ways_and_arrive_whole() {
    let (_root, record) = made(10);
    let mut init = init(&record).await;
    let mut line = record.accept(SOON).await.unwrap();
    init.write_all(b"{\"ready\":{\"phase\":\"wai").await.unwrap();
    // A call that is dropped in the middle of a line loses nothing.
    let early = tokio::time::timeout(Duration::from_millis(50), line.recv());
    assert!(early.await.is_err());
    init.write_all(b"ting\"}}\n{\"output\":{\"end\":7}}\n").await.unwrap();
    let ready = FromInit::Ready { phase: Phase::Waiting };
    assert_eq!(line.recv().await, Some(ready));
    assert_eq!(line.recv().await, Some(FromInit::Output { end: 7 }));
    line.send(&ToInit::Cancel { grace_ms: 5 }).await.unwrap();
    let mut said = String::new();
    BufReader::new(&mut init).read_line(&mut said).await.unwrap();
    assert_eq!(said, "{\"cancel\":{\"grace_ms\":5}}\n");
    drop(init);
    assert_eq!(line.recv().await, None);
}

#[tokio::test]
async fn a_line_without_end_is_not_kept() {
    let (_root, record) = made(10);
    let mut init = init(&record).await;
    let mut line = record.accept(SOON).await.unwrap();
    let flood = async { init.write_all(&[b'x'; 1 << 20]).await };
    let (_cut_off, said) = tokio::join!(
        tokio::time::timeout(Duration::from_secs(1), flood),
        line.recv()
    );
    assert_eq!(said, None);
}

#[tokio::test(start_paused = true)]
async fn a_pid_1_that_never_connects_is_given_up_at_the_deadline() {
    let (_root, record) = made(10);
    let nobody = record.accept(Duration::from_secs(30)).await;
    assert!(matches!(nobody, Err(EngineError::InitAway { .. })));
}

#[tokio::test]
async fn kept_output_is_read_in_parts_and_from_any_offset() {
    let (_root, record) = made(8);
    let mut stdout = record.stdout();
    let none = RingRead { start: 0, bytes: Vec::new(), end: 0 };
    assert_eq!(stdout.read(0, 99).unwrap(), none);
    write(&record, 8, 0, b"abcdef");
    let part = RingRead { start: 1, bytes: b"bc".to_vec(), end: 6 };
    assert_eq!(stdout.read(1, 2).unwrap(), part);
    let ahead = RingRead { start: 6, bytes: Vec::new(), end: 6 };
    assert_eq!(stdout.read(40, 2).unwrap(), ahead);
}

#[tokio::test]
async fn output_that_was_overwritten_shows_as_a_later_start() {
    let (_root, record) = made(8);
    write(&record, 8, 0, b"abcdef");
    write(&record, 8, 6, b"ghijkl");
    let found = record.stdout().read(2, 99).unwrap();
    let last = RingRead { start: 4, bytes: b"efghijkl".to_vec(), end: 12 };
    assert_eq!(found, last);
}

#[tokio::test]
async fn absent_is_not_corrupt() {
    let (_root, record) = made(8);
    assert_eq!(record.exit().unwrap(), None);
    assert_eq!(record.identity().unwrap(), None);
    assert_eq!(record.result(Bytes(9)).unwrap(), b"");
    assert!(!record.begun().unwrap());
    for name in [names::EXIT, names::BEGUN, names::STDOUT] {
        std::fs::write(record.path().join(name), "").unwrap();
    }
    let corrupt = record.exit();
    assert!(matches!(corrupt, Err(EngineError::Corrupt { .. })));
    assert!(record.begun().unwrap());
    assert!(record.stdout().read(0, 1).is_err());
}

#[tokio::test]
async fn a_result_is_read_up_to_its_cap() {
    let (_root, record) = made(8);
    std::fs::write(record.path().join(names::RESULT), "[1,2]").unwrap();
    assert_eq!(record.result(Bytes(99)).unwrap(), b"[1,2]");
    assert_eq!(record.result(Bytes(3)).unwrap(), b"[1,");
}
