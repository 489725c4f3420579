use super::facts::Facts;
use super::judge::{Asked, ProbeReport, judge};
use crate::contract::{Bytes, MilliCores, RuntimeClass, Timestamp};
use crate::engine::{LaunchSpec, SandboxId, Tmpfs};
use crate::init::{Orders, StderrTo};

const CLASS: RuntimeClass = RuntimeClass::Function;

/// What the script says in a sandbox that keeps every promise.
const GOOD: &str = "\
stdin={\"probe\":1}
uid=20001
groups=20001
user=job
cwd=/job
status=CapInh:0000000000000000
status=CapPrm:0000000000000000
status=CapEff:0000000000000000
status=CapBnd:0000000000000000
status=CapAmb:0000000000000000
status=NoNewPrivs:1
status=Seccomp:2
env=HOME=/job
env=OVNODE_PROBE=a b
limit=Max file size 1048576 1048576 bytes
limit=Max core file size 1 1 bytes
limit=Max open files 256 256 files
oom_score_adj=1000
pid1=ovnode-init
processes=3
interface=lo
fd=0
fd=1
fd=2
fd=3
filesystem=/job tmpfs 4096 16
filesystem=/tmp tmpfs 4096 16
runs=/job 7
runs=/tmp 7
cgroup=memory.max 2097152
cgroup=memory.swap.max 0
cgroup=pids.max 65
fd3=written
done=yes
";

fn spec() -> LaunchSpec {
    let tmpfs = |inside: &str| Tmpfs {
        inside: inside.to_owned(),
        size: Bytes(65_536),
        inodes: 64,
        exec: true,
    };
    LaunchSpec {
        sandbox: SandboxId("sb_1".to_owned()),
        node: "node_1".to_owned().try_into().unwrap(),
        class: CLASS,
        image: "sha256:1".to_owned(),
        init: "/init".into(),
        record: "/record".into(),
        binds: vec![],
        tmpfs: vec![tmpfs("/job"), tmpfs("/tmp")],
        uid: 20_001,
        memory: Bytes::mib(2),
        shm: Bytes::kib(64),
        cpu: MilliCores(1000),
        pids: 65,
        seccomp: "{}".to_owned(),
    }
}

fn orders() -> Orders {
    let own = |(k, v): (&str, &str)| (k.to_owned(), v.to_owned());
    Orders {
        argv: vec![],
        env: [("HOME", "/job"), ("OVNODE_PROBE", "a b")].map(own).into(),
        cwd: "/job".to_owned(),
        uid: 20_001,
        gid: 20_001,
        stdin: "{\"probe\":1}\n".to_owned(),
        stderr: StderrTo::Owner,
        wall_ms: 1,
        cpu_ms: 1,
        ttl_boot_ms: 1,
        grace_ms: 1,
        output_bytes: 1,
        result_bytes: 1,
        open_files: 256,
        file_bytes: 1 << 20,
    }
}

fn complaint(report: &str) -> Option<String> {
    let (spec, orders) = (spec(), orders());
    let asked = Asked { spec: &spec, orders: &orders };
    let promises = judge(&asked, &Facts::read(report));
    ProbeReport { class: CLASS, at: Timestamp(0), promises }.complaint()
}

#[test]
fn a_sandbox_that_keeps_every_promise_passes() {
    assert_eq!(complaint(GOOD), None);
}

#[test]
fn the_older_cgroups_say_the_same_by_other_names() {
    let old = GOOD
        .replace("memory.max", "memory/memory.limit_in_bytes")
        .replace(
            "memory.swap.max 0",
            "memory/memory.memsw.limit_in_bytes 2097152",
        )
        .replace("pids.max", "pids/pids.max");
    assert_eq!(complaint(&old), None);
}

#[test]
fn each_broken_promise_is_named_with_what_was_found() {
    for (good, bad, said) in [
        ("uid=20001", "uid=0", "wanted `20001`, found `0`"),
        ("groups=20001", "groups=20001 0", "found `20001 0`"),
        ("CapBnd:0000000000000000", "CapBnd:00000000000000c0", "no capability"),
        ("NoNewPrivs:1", "NoNewPrivs:0", "privileges cannot be gained"),
        ("Seccomp:2", "Seccomp:0", "system calls are filtered"),
        ("interface=lo", "interface=lo\ninterface=eth0", "lo, eth0"),
        ("processes=3", "processes=300", "300 are seen"),
        ("pid1=ovnode-init", "pid1=systemd", "found `systemd`"),
        ("fd=3", "fd=3\nfd=4", "no file is inherited: 4"),
        ("oom_score_adj=1000", "oom_score_adj=0", "first to die"),
        ("env=HOME=/job\n", "", "`HOME=/job` is missing"),
        ("env=HOME", "env=TOKEN=secret\nenv=HOME", "`TOKEN` was inherited"),
        ("256 256 files", "256 4096 files", "wanted `256`, found `4096`"),
        ("/job tmpfs 4096 16", "/job tmpfs 4096 17", "/job has 64.0 KiB"),
        ("/tmp tmpfs", "/tmp overlayfs", "it is overlayfs"),
        ("runs=/job 7", "runs=/job 126", "a script in it ended with 126"),
        ("memory.max 2097152", "memory.max max", "memory is limited"),
        ("swap.max 0", "swap.max max", "there is no swap"),
        ("pids.max 65", "pids.max max", "processes are limited to 65"),
        ("fd3=written\n", "", "could not tell its fd3"),
        ("done=yes\n", "", "runs to its end"),
        ("done=yes", "writable=/etc\ndone=yes", "read-only: /etc"),
        ("done=yes", "reachable=/run/ovnode\ndone=yes", "/run/ovnode"),
        ("done=yes", "allowed=a mount\ndone=yes", "a mount"),
        ("stdin={\"probe\":1}", "stdin=", "a line of JSON on stdin"),
    ] {
        assert!(GOOD.contains(good), "{good}");
        let found = complaint(&GOOD.replace(good, bad));
        let found = found.unwrap_or_else(|| panic!("passed: {bad}"));
        assert!(found.contains(said), "{bad}: {found}");
        assert!(!found.contains("secret"), "{found}");
    }
}

#[test]
fn a_script_that_says_nothing_keeps_no_promise_that_it_should_show() {
    let found = complaint("").unwrap();
    assert!(found.matches("; ").count() > 15, "{found}");
}
