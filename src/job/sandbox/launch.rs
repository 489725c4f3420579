use crate::contract::{Bytes, Job, NodeId, RuntimeClass};
use crate::engine::{Bind, ImageFacts, LaunchSpec, SandboxId, Tmpfs};
use crate::init::{Orders, StderrTo};
use crate::job::step::Terms;
use crate::job::{ArtifactPlan, ArtifactSource, Caps, ClassPlan};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Memory for PID 1 beside the job's: it copies stdout through a buffer and
/// is some 2 MiB; the kernel's own share of a small container comes on top.
const INIT_MEMORY: Bytes = Bytes::mib(16);
/// One file for each so many bytes of a tmpfs: an inode costs the kernel
/// about 1 KiB, which must not escape the limit unseen.
const BYTES_AN_INODE: u64 = 16 << 10;
/// The least a filesystem has: of size 0 it would have no limit at all, and
/// an engine takes no memory to share for its own default.
const LEAST: u64 = 4096;
/// Where an owner's artifact is bound.
const ARTIFACT: &str = "/artifact";
/// Where programs are looked for.
const PATH: &str =
    "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

/// The sandbox that a job wants.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wish {
    /// The class.
    pub(crate) class: RuntimeClass,
    /// What its sandboxes are like.
    pub(crate) plan: ClassPlan,
    /// What runs in it.
    pub(crate) artifact: ArtifactPlan,
    /// The job's user and group.
    pub(crate) uid: u32,
    /// Memory of the job.
    pub(crate) memory: Bytes,
}

impl Wish {
    /// The image it is made from, by reference.
    pub(crate) fn image(&self) -> &str {
        match &self.artifact.source {
            ArtifactSource::Image(reference) => reference,
            ArtifactSource::Directory(_) => &self.plan.image,
        }
    }
}

/// What a sandbox is made of that does not depend on its job.
pub(crate) struct Base<'a> {
    /// Whose it is.
    pub(crate) node: &'a NodeId,
    /// Its name.
    pub(crate) sandbox: SandboxId,
    /// Its record on the host.
    pub(crate) record: PathBuf,
    /// The static init on the host.
    pub(crate) init: PathBuf,
    /// What the engine knows of its image.
    pub(crate) image: &'a ImageFacts,
    /// What must cover the image's volumes.
    pub(crate) covers: Vec<Tmpfs>,
}

/// Everything the sandbox is made of. Its filesystems are memory: together
/// they take at most seven eighths of the job's own, so that a job that fills
/// them is told "no space" before the kernel kills it.
pub(crate) fn spec(wish: &Wish, base: Base<'_>, seccomp: &str) -> LaunchSpec {
    let share = |most: Bytes, part: u64| {
        Bytes(most.0.min(wish.memory.0 / part).max(LEAST))
    };
    let tmpfs = |inside: &str, size: Bytes| Tmpfs {
        inside: inside.to_owned(),
        size,
        inodes: (size.0 / BYTES_AN_INODE).max(64),
        exec: true,
    };
    let scratch = wish.plan.scratch;
    let mut mounts = vec![
        tmpfs("/job", share(scratch, 2)),
        tmpfs("/tmp", share(scratch, 4)),
    ];
    mounts.extend(base.covers);
    let binds = match &wish.artifact.source {
        ArtifactSource::Image(_) => Vec::new(),
        ArtifactSource::Directory(host) => {
            let inside = ARTIFACT.to_owned();
            vec![Bind { host: host.clone(), inside }]
        }
    };
    LaunchSpec {
        sandbox: base.sandbox,
        node: base.node.clone(),
        class: wish.class,
        image: base.image.id.clone(),
        init: base.init,
        record: base.record,
        binds,
        tmpfs: mounts,
        uid: wish.uid,
        memory: Bytes(wish.memory.0.saturating_add(INIT_MEMORY.0)),
        shm: share(wish.plan.shm, 8),
        cpu: wish.plan.cpu,
        // PID 1 is one more than the job was promised.
        pids: wish.plan.pids.saturating_add(1),
        seccomp: seccomp.to_owned(),
    }
}

/// What PID 1 is told: how to run the job, and every limit it keeps alone.
pub(crate) fn orders(
    job: &Job,
    artifact: &ArtifactPlan,
    terms: &Terms,
    (uid, caps, image_env): (u32, &Caps, &BTreeMap<String, String>),
) -> Orders {
    let ms =
        |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    let mut stdin = serde_json::Value::Object(job.args.clone()).to_string();
    stdin.push('\n');
    let stderr =
        if artifact.stream_stderr { StderrTo::Stream } else { StderrTo::Owner };
    Orders {
        argv: artifact.command.clone(),
        env: environment(job, artifact, image_env),
        cwd: "/job".to_owned(),
        uid,
        gid: uid,
        stdin,
        stderr,
        wall_ms: ms(terms.wall),
        cpu_ms: ms(terms.cpu),
        ttl_boot_ms: terms.expires().0,
        grace_ms: ms(terms.grace),
        output_bytes: terms.output.0,
        result_bytes: terms.result.0,
        open_files: caps.open_files,
        // No file can be larger than the filesystems it could lie in.
        file_bytes: job.limits.memory.0,
    }
}

/// What of the image is allowed, then ours, then the artifact's; who the job
/// is cannot be overridden.
fn environment(
    job: &Job,
    artifact: &ArtifactPlan,
    image_env: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut env = image_env.clone();
    env.entry("PATH".to_owned()).or_insert_with(|| PATH.to_owned());
    let ours = [("HOME", "/job"), ("TMPDIR", "/tmp"), ("LANG", "C.UTF-8")];
    let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    env.extend(ours.map(own));
    env.extend(artifact.env.clone());
    let who = [
        ("OPENVIBE_JOB_ID", job.id.as_str()),
        ("OV_JOB_ID", job.id.as_str()),
        ("OV_CLASS", job.class.as_str()),
    ];
    env.extend(who.map(own));
    env
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::job::testing::plan;

    fn spec_of(memory: Bytes) -> LaunchSpec {
        made(memory, "/records", "sb_1")
    }

    /// That of a sandbox of this name, its record below `records`.
    pub(in crate::job::sandbox) fn spec_at(
        records: &str,
        sandbox: &str,
    ) -> LaunchSpec {
        made(Bytes::mib(64), records, sandbox)
    }

    fn made(memory: Bytes, records: &str, sandbox: &str) -> LaunchSpec {
        let plan = plan(1);
        let class = RuntimeClass::Function;
        let wish = Wish {
            class,
            plan: plan.classes[&class].clone(),
            artifact: plan.artifacts[0].clone(),
            uid: 20_000,
            memory,
        };
        let image = ImageFacts {
            id: "sha256:0".to_owned(),
            volumes: Vec::new(),
            env: Vec::new(),
            architecture: "amd64".to_owned(),
            created_ms: None,
            size_bytes: 0,
        };
        let base = Base {
            node: &"node_1".to_owned().try_into().unwrap(),
            sandbox: SandboxId(sandbox.to_owned()),
            record: PathBuf::from(records).join(sandbox),
            init: "/init".into(),
            image: &image,
            covers: Vec::new(),
        };
        spec(&wish, base, "{}")
    }

    #[test]
    fn filesystems_fit_into_the_jobs_memory_with_room_to_spare() {
        for memory in [Bytes::mib(1), Bytes::mib(64), Bytes::mib(1 << 20)] {
            let spec = spec_of(memory);
            let sizes = spec.tmpfs.iter().map(|at| at.size.0);
            let sum = sizes.sum::<u64>() + spec.shm.0;
            assert!(sum <= memory.0 / 8 * 7, "{memory}: {sum}");
        }
    }

    #[test]
    fn no_filesystem_of_the_smallest_job_is_without_a_limit() {
        let spec = spec_of(Bytes(1));
        assert!(spec.tmpfs.iter().all(|at| at.size.0 > 0));
        assert!(spec.shm.0 > 0);
    }
}
