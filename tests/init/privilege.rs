use crate::sandbox::{Sandbox, UID, run, script};
use ovnode::init::Outcome;
use std::process::Command;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_job_has_no_privilege_at_all() {
    let out = text(&run(script("cat /proc/self/status")).stdout);
    let line = |name: &str| {
        let found = out.lines().find_map(|line| line.strip_prefix(name));
        found.unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // Real, effective, saved, and that of the filesystem.
    let all = [UID; 4].map(|id| id.to_string()).join(" ");
    assert_eq!(line("Uid:"), all);
    assert_eq!(line("Gid:"), all);
    assert_eq!(line("Groups:"), "");
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        assert_eq!(line(set), "0000000000000000", "{set}");
    }
    assert_eq!(line("NoNewPrivs:"), "1");
    assert_eq!(line("SigBlk:"), "0000000000000000");
    // The shell's own handlers aside, nothing is ignored: SIGPIPE is bit 12.
    let ignored = u64::from_str_radix(&line("SigIgn:"), 16).unwrap();
    assert_eq!(ignored & (1 << 12), 0);
}

#[test]
fn a_job_starts_with_exactly_what_was_ordered() {
    let mut orders = script("pwd; umask; echo /proc/self/fd/*; env | sort");
    orders.env.insert("OV_CLASS".into(), "code".into());
    orders.cwd = "/usr".into();
    let out = text(&run(orders).stdout);
    // `PWD` is the shell's own, and so is descriptor 4, the folder it reads.
    assert_eq!(
        out.lines().collect::<Vec<_>>(),
        [
            "/usr",
            "0022",
            "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 \
             /proc/self/fd/3 /proc/self/fd/4",
            "OV_CLASS=code",
            "PATH=/usr/bin:/bin",
            "PWD=/usr",
        ]
    );
}

#[test]
fn a_descriptor_left_open_by_whoever_started_it_reaches_no_job() {
    let mut sandbox = Sandbox::new();
    sandbox.start_with("exec 7</etc; ", &[]);
    let mut line = sandbox.accept();
    line.run(script("true"));
    let outcome = sandbox.end(line).record.outcome;
    let why = "descriptor 7 (/etc) would reach the job".to_owned();
    assert_eq!(outcome, Outcome::CannotStart(why));
}

#[test]
fn a_job_is_bounded_and_the_first_to_go_when_memory_is_short() {
    let mut orders = script(
        "ulimit -Hn; ulimit -Sn; ulimit -Hf; ulimit -Hl; ulimit -Hc; \
         cat /proc/self/oom_score_adj; \
         grep -E 'nice|realtime priority|msgqueue' /proc/self/limits \
         | awk '{print $(NF-1)}'; ps -o sid= -p $$ | tr -d ' '; echo $$",
    );
    orders.open_files = 64;
    orders.file_bytes = 512 * 100;
    let out = text(&run(orders).stdout);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[..6], ["64", "64", "100", "0", "0", "1000"], "{out}");
    let (session, pid) = (lines[lines.len() - 2], lines[lines.len() - 1]);
    assert_eq!(session, pid, "it leads a session of its own");
}

#[test]
fn stdout_and_the_result_can_be_opened_by_name() {
    let ended =
        run(script("echo one > /dev/stdout; echo two > /proc/self/fd/3"));
    assert_eq!(text(&ended.stdout), "one\n");
    assert_eq!(ended.result.as_deref(), Some(&b"two\n"[..]));
}

#[test]
fn pid_1_keeps_only_what_it_needs_and_cannot_be_looked_into() {
    let mut sandbox = Sandbox::new();
    let line = sandbox.begin(script("sleep 0.2"), &[]);
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", sandbox.pid()))
            .unwrap();
    let has = |line: &str| status.lines().any(|l| l == line);
    // KILL is bit 5, SETGID 6, SETUID 7.
    assert!(has("CapPrm:\t00000000000000e0"), "{status}");
    assert!(has("CapEff:\t00000000000000e0"));
    assert!(has("CapBnd:\t0000000000000000"));
    assert!(has("CapInh:\t0000000000000000"));
    sandbox.end(line);
}

#[test]
fn stage_two_refuses_to_run_anything_with_privileges_left() {
    // As root, as anybody who starts it by hand would be.
    let out = Command::new(env!("CARGO_BIN_EXE_ovnode-init"))
        .arg("stage-two")
        .output()
        .unwrap();
    assert!(!out.status.success());
    let none =
        Command::new(env!("CARGO_BIN_EXE_ovnode-init")).output().unwrap();
    assert_eq!(none.status.code(), Some(64));
}
