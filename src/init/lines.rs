use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The longest line either side takes. Orders are the longest: a megabyte of
/// args on stdin grows sixfold where every byte is escaped, and the
/// environment comes on top.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// What the daemon says to PID 1: one JSON document a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ToInit {
    /// Run this, once.
    Run(Box<Orders>),
    /// TERM, then KILL after the grace.
    Cancel {
        /// Between the two signals.
        grace_ms: u64,
    },
}

/// What PID 1 says to the daemon: one JSON document a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FromInit {
    /// The first word on every connection. Where a job runs already,
    /// `started` and `output` follow at once, as far as they are true, so a
    /// daemon that comes back knows where things are.
    Ready {
        /// How far it is.
        phase: Phase,
    },
    /// The job's exec succeeded.
    Started {
        /// CLOCK_MONOTONIC of the exec.
        mono_ms: u64,
    },
    /// The ring of stdout holds bytes up to here.
    Output {
        /// Absolute offset of the end.
        end: u64,
    },
    /// The exit record is written; nothing follows.
    Ended,
}

/// How far PID 1 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It has no orders.
    Waiting,
    /// `begun` is written: it takes no other orders.
    Begun,
    /// The job is being ended: by a deadline, a cancel, or its own end.
    Ending,
}

/// All that PID 1 needs to run a job and to keep its limits alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Orders {
    /// Program and arguments; the program is looked up in `PATH` of `env`.
    pub argv: Vec<String>,
    /// The whole environment; nothing is inherited.
    pub env: BTreeMap<String, String>,
    /// Working directory.
    pub cwd: String,
    /// The job's own user, never 0.
    pub uid: u32,
    /// The job's own group, never 0.
    pub gid: u32,
    /// Written to the job's stdin, which is then closed.
    pub stdin: String,
    /// Where its stderr goes.
    pub stderr: StderrTo,
    /// Job time from the exec, CLOCK_MONOTONIC.
    pub wall_ms: u64,
    /// CPU of the whole sandbox.
    pub cpu_ms: u64,
    /// When it expires, CLOCK_BOOTTIME.
    pub ttl_boot_ms: u64,
    /// Between TERM and KILL when a deadline passes.
    pub grace_ms: u64,
    /// Bytes of stdout after which it is ended.
    pub output_bytes: u64,
    /// Bytes on fd 3 after which it is ended.
    pub result_bytes: u64,
    /// RLIMIT_NOFILE.
    pub open_files: u64,
    /// RLIMIT_FSIZE.
    pub file_bytes: u64,
}

/// Where a job's stderr goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StderrTo {
    /// The owner's: a ring of its own in the record.
    Owner,
    /// Merged into stdout.
    Stream,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads_as<T>(json: &str, value: &T)
    where
        T: Serialize + for<'de> Deserialize<'de> + PartialEq + std::fmt::Debug,
    {
        assert_eq!(serde_json::to_string(value).unwrap(), json);
        assert_eq!(&serde_json::from_str::<T>(json).unwrap(), value);
    }

    #[test]
    fn lines_to_pid_1_read_as_agreed() {
        reads_as(
            r#"{"cancel":{"grace_ms":5000}}"#,
            &ToInit::Cancel { grace_ms: 5000 },
        );
        let orders = Orders {
            argv: vec!["python3".into(), "main.py".into()],
            env: BTreeMap::from([("PATH".into(), "/usr/bin".into())]),
            cwd: "/job".into(),
            uid: 200_000,
            gid: 200_001,
            stdin: "{}\n".into(),
            stderr: StderrTo::Owner,
            wall_ms: 1,
            cpu_ms: 2,
            ttl_boot_ms: 3,
            grace_ms: 4,
            output_bytes: 5,
            result_bytes: 6,
            open_files: 7,
            file_bytes: 8,
        };
        reads_as(
            concat!(
                r#"{"run":{"argv":["python3","main.py"],"#,
                r#""env":{"PATH":"/usr/bin"},"cwd":"/job","#,
                r#""uid":200000,"gid":200001,"stdin":"{}\n","#,
                r#""stderr":"owner","wall_ms":1,"cpu_ms":2,"#,
                r#""ttl_boot_ms":3,"grace_ms":4,"output_bytes":5,"#,
                r#""result_bytes":6,"open_files":7,"file_bytes":8}}"#,
            ),
            &ToInit::Run(Box::new(orders)),
        );
    }

    #[test]
    fn lines_from_pid_1_read_as_agreed() {
        for (json, line) in [
            (
                r#"{"ready":{"phase":"waiting"}}"#,
                FromInit::Ready { phase: Phase::Waiting },
            ),
            (
                r#"{"ready":{"phase":"ending"}}"#,
                FromInit::Ready { phase: Phase::Ending },
            ),
            (r#"{"started":{"mono_ms":1}}"#, FromInit::Started { mono_ms: 1 }),
            (r#"{"output":{"end":9}}"#, FromInit::Output { end: 9 }),
            (r#""ended""#, FromInit::Ended),
        ] {
            reads_as(json, &line);
        }
    }

    #[test]
    fn a_word_that_was_not_agreed_is_refused() {
        for json in [
            r#"{"cancel":{"grace_ms":1,"why":""}}"#,
            r#"{"cancel":{}}"#,
            r#"{"exec":{}}"#,
            r#""run""#,
        ] {
            assert!(serde_json::from_str::<ToInit>(json).is_err(), "{json}");
        }
    }
}
