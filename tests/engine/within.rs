use crate::sandbox::{Sandbox, UID, docker, init, within};
use ovnode::contract::Bytes;
use ovnode::engine::cgroup::Cgroup;
use ovnode::engine::{ContainerId, Engine};
use ovnode::init::{
    FromInit, Identity, Orders, Outcome, Phase, StderrTo, ToInit,
};
use std::time::Duration;

/// Runs a script as PID 1 and gives what it wrote to `/run/ovnode/said`.
async fn said(text: &str) -> String {
    let script = format!("exec >/run/ovnode/said 2>&1\n{text}");
    let sandbox = Sandbox::running_script(&script).await;
    sandbox.ended(&docker()).await;
    sandbox.said("said")
}

#[tokio::test]
async fn pid_1_has_four_capabilities_a_filter_and_no_way_to_more() {
    let status = said("cat /proc/self/status").await;
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split('\t').nth(1)).unwrap_or_default()
    };
    // KILL 5, SETGID 6, SETUID 7, SETPCAP 8.
    assert_eq!(field("CapBnd:"), "00000000000001e0");
    assert_eq!(field("CapEff:"), "00000000000001e0");
    assert_eq!(field("CapAmb:"), "0000000000000000");
    assert_eq!(field("NoNewPrivs:"), "1");
    assert_eq!(field("Seccomp:"), "2");
}

#[tokio::test]
async fn nothing_is_writable_but_what_is_meant_to_be() {
    let found = said(
        "for at in / /etc /usr /var /run /run/ovnode-init /etc/passwd \
         /etc/group /sys /proc/sys; do \
         if [ -w $at ]; then echo writable $at; fi; done; \
         cat /proc/mounts",
    )
    .await;
    assert!(!found.contains("writable"), "{found}");
    let mounted = |at: &str| {
        let line = found.lines().find(|line| line.contains(&format!(" {at} ")));
        line.unwrap_or_default().to_owned()
    };
    let job = mounted("/job");
    assert!(job.contains("mode=700") && job.contains(&format!("uid={UID}")));
    assert!(job.contains("nodev") && job.contains("nr_inodes=1024"), "{job}");
    assert!(!job.contains("noexec") && mounted("/tmp").contains("noexec"));
    assert!(mounted("/dev/shm").contains("size=4096k"));
}

#[tokio::test]
async fn there_is_no_network_and_no_word_of_the_host() {
    let found = said(
        "cat /proc/net/dev; hostname; cat /etc/passwd; ls /dev; \
         cat /proc/self/cgroup; ulimit -c; ls -A /proc/scsi /sys/firmware",
    )
    .await;
    let devices = found.lines().filter(|line| line.contains(": "));
    let devices: Vec<_> =
        devices.filter(|line| !line.contains("lo:")).collect();
    let strangers = devices.iter().any(|line| line.contains("eth"));
    assert!(!strangers, "{devices:?}");
    assert!(found.contains("\novnode\n") && found.contains("job:x:70001:"));
    assert!(!found.contains("docker"), "{found}");
}

/// A call by its number, its arguments, and the error that must come of it
/// (0: none). Each would end otherwise if the filter did not answer first:
/// the arguments make no sense, and the kernel would say so.
#[cfg(target_arch = "x86_64")]
const CALLS: [(&str, &str, u32); 20] = [
    ("mount", "165, 0, 0, 0, 0, 0", 1),
    ("keyctl", "250, 9999, 0, 0, 0, 0", 1),
    ("userfaultfd", "323, 0xffff", 1),
    ("unshare", "272, 0", 1),
    ("clone of a user namespace", "56, 0x10000011, 0, 0, 0, 0", 1),
    ("clone3", "435, 0, 0", 38),
    ("io_uring_setup", "425, 0, 0", 38),
    ("socket of vsock", "41, 40, 1, 0", 1),
    ("socket of inet", "41, 2, 1, 0", 0),
    ("socket of unix, with a high bit", "41, 1 | 1 << 32, 1, 0", 0),
    ("socketpair of inet", "53, 2, 1, 0, 0", 1),
    ("ioctl to set a project", "16, -1, 0x401c5820, 0", 1),
    ("the same, with a high bit", "16, -1, 0x401c5820 | 1 << 32, 0", 1),
    ("another ioctl", "16, -1, 0x5401, 0", 9),
    ("setrlimit of core", "160, 4, 0", 1),
    ("setrlimit of files", "160, 7, 0", 14),
    ("prlimit64 of core", "302, 0, 4 | 1 << 32, 1, 0", 1),
    ("prlimit64 of files", "302, 0, 7, 1, 0", 14),
    ("personality of 32 bits", "135, 8", 1),
    ("ptrace of nobody", "101, 16, 4000000, 0, 0", 3),
];

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn the_filter_answers_before_the_kernel_does() {
    let lines = CALLS.map(|(_, arguments, _)| {
        format!("$! = 0; syscall({arguments}); print $! + 0, \"\\n\";\n")
    });
    let perl = format!("perl - <<'END'\n{}END", lines.concat());
    let found = said(&perl).await;
    let found: Vec<_> = found.lines().collect();
    assert_eq!(found.len(), CALLS.len(), "{found:?}");
    for ((name, _, wanted), found) in CALLS.iter().zip(found) {
        assert_eq!(found, wanted.to_string(), "{name}");
    }
}

#[tokio::test]
async fn ordinary_work_goes_on_under_the_filter() {
    let found = said(
        "ulimit -n 64 && echo files; ls / | sort | wc -l >/tmp/n && echo pipes; \
         (sleep 0.1 & wait) && echo forks; mkfifo /tmp/f && echo fifo; \
         ulimit -c; perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, \
         0) and print qq(pair)'",
    )
    .await;
    assert_eq!(found, "files\npipes\nforks\nfifo\n0\npair");
}

#[tokio::test]
async fn memory_is_limited_and_a_kill_for_want_of_it_is_counted() {
    let engine = docker();
    let text = "(held=$(yes | head -c 400M)); sleep 600";
    let sandbox = Sandbox::running_script(text).await;
    let id = sandbox.started(&engine).await;
    let cgroup = cgroup(&engine, &id).await;
    let counted = async {
        while cgroup.usage().oom_kills != Some(1) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    within(counted).await;
    let used = cgroup.usage();
    assert!(used.memory_peak.unwrap() <= sandbox.spec.memory);
    assert!(used.cpu.unwrap() > Duration::ZERO);
    engine.remove(&id).await.unwrap();
    assert_eq!(cgroup.usage().processes, Some(0));
}

#[tokio::test]
async fn a_fork_bomb_stops_at_its_limit_and_dies_by_the_cgroup() {
    let engine = docker();
    let text = "bomb() { bomb | bomb & }; bomb; sleep 600";
    let sandbox = Sandbox::running_script(text).await;
    let id = sandbox.started(&engine).await;
    let cgroup = cgroup(&engine, &id).await;
    let most = u64::from(sandbox.spec.pids);
    let ended = async {
        loop {
            assert!(cgroup.usage().processes.unwrap() <= most);
            cgroup.lift_quota().unwrap();
            cgroup.kill_all().unwrap();
            if cgroup.usage().processes == Some(0) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    within(ended).await;
    assert_eq!(within(engine.wait(&id)).await.unwrap(), 137);
    engine.remove(&id).await.unwrap();
}

#[tokio::test]
async fn the_real_init_runs_a_job_in_it_and_leaves_the_record() {
    let engine = docker();
    let folder = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::with_init(folder, init()).await;
    let id = sandbox.started(&engine).await;
    let limit = Duration::from_secs(60);
    let mut line = sandbox.record.accept(limit).await.unwrap();
    let ready = within(line.recv()).await;
    assert_eq!(ready, Some(FromInit::Ready { phase: Phase::Waiting }));
    let whose = Identity {
        job: "job_1".to_owned(),
        dispatcher: "d".to_owned(),
        hash: "0".to_owned(),
    };
    sandbox.record.identify(&whose).unwrap();
    line.send(&ToInit::Run(Box::new(orders()))).await.unwrap();
    while within(line.recv()).await != Some(FromInit::Ended) {}

    assert_eq!(within(engine.wait(&id)).await.unwrap(), 0);
    assert!(sandbox.record.begun().unwrap());
    let exit = sandbox.record.exit().unwrap().unwrap();
    assert_eq!(exit.outcome, Outcome::Exited(3));
    let stdout = sandbox.record.stdout().read(0, 4096).unwrap();
    let stdout = String::from_utf8(stdout.bytes).unwrap();
    assert_eq!(stdout, "70001 job 1 1 bytes 0000000000000000\n");
    assert_eq!(sandbox.record.result(Bytes(99)).unwrap(), b"[1]");
    engine.remove(&id).await.unwrap();
}

/// A job that says who it is, what core it may dump, and what it is capable
/// of.
fn orders() -> Orders {
    let text = "caps=$(sed -n 's/^CapBnd:.//p' /proc/self/status); \
                core=$(sed -n 's/^Max core file size//p' /proc/self/limits); \
                echo $(id -u) $(id -un) $core $caps; printf '[1]' >&3; exit 3";
    let path = ("PATH".to_owned(), "/usr/bin:/bin".to_owned());
    Orders {
        argv: ["/bin/sh", "-c", text].map(str::to_owned).to_vec(),
        env: [path].into(),
        cwd: "/job".to_owned(),
        uid: UID,
        gid: UID,
        stdin: "{}\n".to_owned(),
        stderr: StderrTo::Stream,
        wall_ms: 60_000,
        cpu_ms: 60_000,
        ttl_boot_ms: u64::MAX,
        grace_ms: 1000,
        output_bytes: 1 << 20,
        result_bytes: 1 << 10,
        open_files: 256,
        file_bytes: 1 << 20,
    }
}

async fn cgroup(engine: &impl Engine, id: &ContainerId) -> Cgroup {
    let found = engine.inspect(id).await.unwrap().unwrap();
    Cgroup::of(found.pid.unwrap(), id).unwrap()
}
