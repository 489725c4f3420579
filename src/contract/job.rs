use super::canonical::{canonical, same};
use super::read::{self, At, Object, Read, fields};
use super::{
    ArtifactRef, Bytes, FaultKind, Faults, InputName, JobId, MediaId,
    RuntimeClass, Sha256Hex,
};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::time::Duration;

/// A job (`platform.job@1`): run at most once.
///
/// Two jobs are equal if they ask for the same, however they were written:
/// `args` are compared as JSON (1 and 1.0 are one number), and an absent
/// `net` is `deny`.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its id, and the moment it was made.
    pub id: JobId,
    /// The kind of sandbox it wants.
    pub class: RuntimeClass,
    /// What it runs; always there for `function` and `code`.
    pub artifact: Option<ArtifactRef>,
    /// Handed to the job on its standard input as one line of JSON.
    pub args: Map<String, Value>,
    /// From receipt (or its time stamp in the queue) on CLOCK_BOOTTIME.
    pub ttl: Duration,
    /// What it may use.
    pub limits: Limits,
    /// How far it wants to reach.
    pub net: NetPolicy,
    /// Files it wants staged.
    pub inputs: Vec<Input>,
}

/// A job's own limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Job time from its exec, CLOCK_MONOTONIC.
    pub wall: Duration,
    /// CPU time of all its processes together.
    pub cpu: Duration,
    /// Memory of all its processes together, scratch included.
    pub memory: Bytes,
}

/// How far a job may reach; each includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum NetPolicy {
    /// No network at all (`deny`, `none`, or absent).
    #[default]
    Deny,
    /// The owner's names and ranges only.
    OpenvibeOnly,
    /// The public internet.
    Public,
}

/// One input file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Input {
    /// Its name in `/job/in`.
    pub name: InputName,
    /// Where it is fetched.
    pub media_id: MediaId,
    /// What it must hold.
    pub sha256: Sha256Hex,
    /// Its size, where the dispatcher says it.
    #[serde(rename = "size_bytes", skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
}

impl Job {
    /// The job that a frame's `job` holds.
    ///
    /// # Errors
    /// All its faults. A fault's kind and path say which answer it gets.
    pub fn parse(job: &Value) -> Result<Self, Faults> {
        read::value(job)
    }

    /// The job as a document.
    pub fn to_value(&self) -> Value {
        let mut job = json!({
            "id": self.id,
            "class": self.class,
            "args": self.args,
            "ttl_ms": milliseconds(self.ttl),
            "limits": {
                "wall_ms": milliseconds(self.limits.wall),
                "cpu_ms": milliseconds(self.limits.cpu),
                "mem_bytes": self.limits.memory,
            },
        });
        if let Some(artifact) = &self.artifact {
            job["artifact"] = json!(artifact);
        }
        if self.net != NetPolicy::Deny {
            job["net"] = json!(self.net);
        }
        if !self.inputs.is_empty() {
            job["inputs"] = json!(self.inputs);
        }
        job
    }

    /// The job as JSON.
    pub fn to_json(&self) -> Vec<u8> {
        read::to_json(&self.to_value(), 0)
    }

    /// SHA-256 in hex of what the job asks for: the same for equal jobs, on
    /// every machine and in every version.
    pub fn hash(&self) -> String {
        let json = canonical(&self.to_value());
        let digest = Sha256::digest(json.as_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        same(&self.to_value(), &other.to_value())
    }
}

impl Read for Job {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            id: need,
            class: need,
            artifact: also (read_artifact),
            args: need_with (|at| at.map().cloned()),
            ttl: need_with "ttl_ms" (span),
            limits: need_with (Limits::read),
            net: also (|job, key| Some(job.may(key)?.unwrap_or_default())),
            inputs: also (read_inputs),
        })
    }
}

/// An artifact is for any class, and never left out for these two.
fn read_artifact(
    job: &mut Object<'_>,
    key: &'static str,
) -> Option<Option<ArtifactRef>> {
    let class = job.text("class");
    let needed = [RuntimeClass::Function, RuntimeClass::Code]
        .into_iter()
        .any(|wants| class == Some(wants.as_str()));
    if needed { job.need(key).map(Some) } else { job.may(key) }
}

fn read_inputs(job: &mut Object<'_>, key: &'static str) -> Option<Vec<Input>> {
    const MOST: usize = 32;
    let inputs: Vec<_> = job.may(key)?.unwrap_or_default();
    if inputs.len() <= MOST {
        return Some(inputs);
    }
    let message =
        format!("must hold at most {MOST} items, and has {}", inputs.len());
    job.fault(key, FaultKind::Value, message);
    None
}

impl Limits {
    /// Reads the three limits.
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            wall: need_with "wall_ms" (span),
            cpu: need_with "cpu_ms" (span),
            memory: need_with "mem_bytes" (|at| at.count(1).map(Bytes)),
        })
    }
}

/// A time of 1 ms or more.
fn span(at: At<'_>) -> Option<Duration> {
    at.count(1).map(Duration::from_millis)
}

/// As the contract says a time: whole milliseconds, 1 at least.
fn milliseconds(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX).max(1)
}

impl NetPolicy {
    /// The contract's own word; `deny` rather than its synonym `none`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::OpenvibeOnly => "openvibe-only",
            Self::Public => "public",
        }
    }

    /// The policy of that name; `None` for any other text.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "deny" | "none" => Some(Self::Deny),
            "openvibe-only" => Some(Self::OpenvibeOnly),
            "public" => Some(Self::Public),
            _ => None,
        }
    }
}

impl Serialize for NetPolicy {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl Read for NetPolicy {
    fn read(at: At<'_>) -> Option<Self> {
        const WORDS: [&str; 4] = ["deny", "none", "public", "openvibe-only"];
        at.word(&WORDS, Self::from_name)
    }
}

impl Read for Input {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            name: need,
            media_id: need,
            sha256: need,
            size: may "size_bytes",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> Value {
        json!({
            "id": "job_01JAB2C3D4E5F6G7H8J9K0MNPQ",
            "class": "code",
            "artifact": {"name": "py", "version": "3.12"},
            "args": {"b": [1, 2.5], "a": {"x": null}},
            "ttl_ms": 1000,
            "limits": {"wall_ms": 1, "cpu_ms": 2, "mem_bytes": 3},
        })
    }

    fn job(change: impl FnOnce(&mut Value)) -> Job {
        let mut job = wanted();
        change(&mut job);
        Job::parse(&job).expect("a job")
    }

    fn fault(change: impl FnOnce(&mut Value)) -> (String, FaultKind) {
        let mut job = wanted();
        change(&mut job);
        let mut faults = Job::parse(&job).expect_err("a fault").0;
        assert_eq!(faults.len(), 1, "{faults:?}");
        let fault = faults.remove(0);
        (fault.path, fault.kind)
    }

    #[test]
    fn jobs_that_ask_for_the_same_are_equal_and_hash_equal() {
        let plain = job(|_| {});
        for same in [
            job(|job| job["net"] = json!("none")),
            job(|job| job["net"] = json!("deny")),
            job(|job| job["inputs"] = json!([])),
            job(|job| job["ttl_ms"] = json!(1e3)),
            job(|job| job["args"]["b"][0] = json!(1.0)),
        ] {
            assert_eq!(same, plain);
            assert_eq!(same.hash(), plain.hash());
        }
    }

    #[test]
    fn jobs_that_ask_for_something_else_differ() {
        let plain = job(|_| {});
        for other in [
            job(|job| job["net"] = json!("public")),
            job(|job| job["args"]["b"][0] = json!(true)),
            job(|job| job["args"]["b"] = json!([2.5, 1])),
            job(|job| job["limits"]["cpu_ms"] = json!(1)),
            job(|job| job["artifact"]["version"] = json!("3.13")),
        ] {
            assert_ne!(other, plain);
            assert_ne!(other.hash(), plain.hash());
        }
    }

    #[test]
    fn the_hash_stays_what_it_is() {
        // Ledgers and records hold it: a change here is one of their format.
        let hash = "c38ab6a3557895ae4a0a935359797cee\
                    6ba81a870d52a3ccf68bafd3e92ea660";
        assert_eq!(job(|_| {}).hash(), hash);
    }

    #[test]
    fn a_number_too_large_for_its_type_is_the_types_greatest() {
        let job = job(|job| job["limits"]["mem_bytes"] = json!(1e30));
        assert_eq!(job.limits.memory, Bytes(u64::MAX));
    }

    #[test]
    fn a_fault_says_its_kind_and_its_place() {
        let kinds = [
            fault(|job| job["class"] = json!("vm")),
            fault(|job| job["net"] = json!("lan")),
            fault(|job| job["ttl_ms"] = json!(0)),
            fault(|job| job["ttl_ms"] = json!("1")),
            fault(|job| job["limits"]["disk"] = json!(1)),
            fault(|job| drop(job["artifact"].take())),
            fault(|job| {
                job.as_object_mut().map(|job| job.remove("artifact"));
            }),
        ];
        let expected = [
            ("/class", FaultKind::Value),
            ("/net", FaultKind::Value),
            ("/ttl_ms", FaultKind::Value),
            ("/ttl_ms", FaultKind::Type),
            ("/limits/disk", FaultKind::UnknownKey),
            ("/artifact", FaultKind::Type),
            ("/artifact", FaultKind::Missing),
        ];
        let expected = expected.map(|(at, kind)| (at.to_owned(), kind));
        assert_eq!(kinds, expected);
    }

    #[test]
    fn only_a_function_and_code_need_an_artifact() {
        for class in RuntimeClass::ALL {
            let mut wanted = wanted();
            wanted["class"] = json!(class);
            wanted.as_object_mut().expect("a job").remove("artifact");
            let needs =
                [RuntimeClass::Function, RuntimeClass::Code].contains(&class);
            assert_eq!(Job::parse(&wanted).is_err(), needs, "{class}");
        }
    }
}
