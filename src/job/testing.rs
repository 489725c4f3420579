//! What the tests of this room share: a small plan and a job that fits it.

use super::{ArtifactPlan, ArtifactSource, Caps, ClassPlan, JobPlan};
use crate::contract::{
    ArtifactRef, Bytes, DispatcherId, JobId, MilliCores, NetPolicy,
    RuntimeClass,
};
use std::time::Duration;

/// Unix milliseconds at which every test begins.
pub(super) const START: u64 = 1_800_000_000_000;

/// One class `function` with that many slots, four users, one artifact.
pub(super) fn plan(slots: u32) -> JobPlan {
    let class = ClassPlan {
        image: "ovnode/function:1".to_owned(),
        slots,
        cpu: MilliCores(1000),
        memory: Bytes::mib(256),
        pids: 128,
        scratch: Bytes::mib(32),
        shm: Bytes::mib(8),
        caps: Caps {
            wall: Duration::from_secs(60),
            cpu: Duration::from_secs(60),
            ttl: Duration::from_secs(600),
            output: Bytes::mib(64),
            result: Bytes::kib(256),
            open_files: 1024,
        },
    };
    JobPlan {
        classes: [(RuntimeClass::Function, class)].into(),
        artifacts: vec![ArtifactPlan {
            id: artifact("echo"),
            class: RuntimeClass::Function,
            source: ArtifactSource::Directory("/srv/echo".into()),
            command: vec!["/artifact/run".to_owned()],
            env: [("MODE".to_owned(), "plain".to_owned())].into(),
            stream_stderr: false,
        }],
        net: NetPolicy::Deny,
        cancel_grace: Duration::from_secs(5),
        uids: 20_000..20_004,
        init: "/usr/lib/ovnode/ovnode-init".into(),
        records: "/var/lib/ovnode/records".into(),
    }
}

/// An artifact of that name, version 1.0.0.
pub(super) fn artifact(name: &str) -> ArtifactRef {
    ArtifactRef::new(name, "1.0.0").unwrap()
}

/// A dispatcher of that name.
pub(super) fn dispatcher(name: &str) -> DispatcherId {
    name.to_owned().try_into().unwrap()
}

/// The `n`th job id made at `ms` after [`START`].
pub(super) fn job_id(ms: i64, n: u64) -> JobId {
    const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let made = START.checked_add_signed(ms).unwrap();
    let digit = |value: u64, at: u32| {
        let five = (value >> (5 * at)) & 31;
        char::from(DIGITS[usize::try_from(five).unwrap()])
    };
    let time: String = (0..10).rev().map(|at| digit(made, at)).collect();
    let tail: String = (0..12).rev().map(|at| digit(n, at)).collect();
    JobId::try_from(format!("job_{time}0000{tail}")).unwrap()
}
