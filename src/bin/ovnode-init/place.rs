//! Where this process runs, and as what.
//!
//! PID 1 takes nothing from its command line: what it may do is the same in
//! every sandbox. Elsewhere it can be run by a test, with a record of its
//! own; that gives nobody a right that he did not have before.
use crate::fault::Fault;
use crate::reach::Reach;
use ovnode::init::names;
use std::ffi::OsString;
use std::path::PathBuf;

/// The argument that makes this binary the job's side.
pub(crate) const STAGE_TWO: &str = "stage-two";

pub(crate) enum Role {
    Supervise(Place),
    StageTwo,
}

/// What a supervisor has around it.
pub(crate) struct Place {
    pub(crate) record: PathBuf,
    pub(crate) cgroup: Option<PathBuf>,
    pub(crate) reach: Reach,
}

/// What this process is to be.
pub(crate) fn role(
    args: impl Iterator<Item = OsString>,
) -> Result<Role, Fault> {
    if rustix::process::getpid().is_init() {
        return Ok(Role::Supervise(Place {
            record: names::MOUNT.into(),
            cgroup: Some("/sys/fs/cgroup".into()),
            reach: Reach::Sandbox,
        }));
    }
    let args: Vec<OsString> = args.collect();
    let (record, cgroup) = match args.as_slice() {
        [one] if one == STAGE_TWO => return Ok(Role::StageTwo),
        [flag, record] if flag == "--record" => (record, None),
        [flag, record, other, cgroup]
            if flag == "--record" && other == "--cgroup" =>
        {
            (record, Some(cgroup.into()))
        }
        _ => return Err(Fault::Usage),
    };
    Ok(Role::Supervise(Place {
        record: record.into(),
        cgroup,
        reach: Reach::Family,
    }))
}
