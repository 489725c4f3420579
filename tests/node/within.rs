use crate::support::daemon::{Daemon, Wants};
use crate::support::nats::Nats;
use crate::support::wire::{Dispatch, Story, sh};
use serde_json::Value;

async fn inside(script: &str) -> Story {
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let story = dispatch.run(script).await;
    assert_eq!(story.end().0, "exited", "{story:?}");
    story
}

#[tokio::test]
async fn a_job_finds_what_it_was_promised_and_nothing_else() {
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let job = sh("env | grep -v '^_=' | grep -v '^PWD=' | grep -v '^OLDPWD=' \
                  | grep -v '^SHLVL=' | sort; pwd; id -u; id -un");
    let id = job["id"].as_str().unwrap().to_owned();
    let story = dispatch.run_job(job).await;
    let said = story.stdout();
    for wanted in [
        "HOME=/job",
        "LANG=C.UTF-8",
        &format!("OPENVIBE_JOB_ID={id}"),
        &format!("OV_JOB_ID={id}"),
        "OV_CLASS=function",
        "TMPDIR=/tmp",
    ] {
        assert!(said.lines().any(|line| line == wanted), "{wanted}\n{said}");
    }
    for line in said.lines().filter(|line| line.contains('=')) {
        let name = line.split('=').next().unwrap();
        let known = [
            "HOME",
            "LANG",
            "OPENVIBE_JOB_ID",
            "OV_JOB_ID",
            "OV_CLASS",
            "TMPDIR",
            "PATH",
        ];
        assert!(known.contains(&name), "inherited: {line}");
    }
    let uid: u32 =
        said.lines().rev().nth(1).unwrap().parse().expect("a number");
    assert!(uid >= 1000, "{said}");
    assert!(said.contains("\n/job\n"), "{said}");
}

/// What a job tries, and what it sees of itself.
const TRIES: &str = r##"
        try() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name yes"; else echo "$name no"; fi; }
        try write_root touch /root_was_written
        try write_etc touch /etc/written
        try write_record touch /run/ovnode/x
        try read_record ls /run/ovnode
        try network sh -c 'exec 5<>/dev/tcp/127.0.0.1/1'
        try signal_init kill -0 1
        try mknod mknod /tmp/null c 1 3
        try chown chown 0 /tmp
        try lower_oom sh -c 'echo -1000 > /proc/self/oom_score_adj'
        try sysctl sh -c 'echo 1 > /proc/sys/kernel/core_uses_pid'
        try scratch sh -c 'echo "#!/bin/sh" > /job/x && chmod +x /job/x && /job/x'
        try tmp touch /tmp/x
        for i in /sys/class/net/*; do echo "net ${i##*/}"; done
        grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status
        ulimit -c
        cat /proc/self/oom_score_adj
        ls /proc | grep -c '^[0-9]'
"##;

#[tokio::test]
async fn a_job_reaches_nothing_that_it_was_not_given() {
    let story = inside(TRIES).await;
    let said = story.stdout();
    for refused in [
        "write_root",
        "write_etc",
        "write_record",
        "read_record",
        "network",
        "signal_init",
        "mknod",
        "chown",
        "lower_oom",
        "sysctl",
    ] {
        let line = format!("{refused} no\n");
        assert!(said.contains(&line), "{refused}\n{said}");
    }
    for given in ["scratch", "tmp"] {
        assert!(said.contains(&format!("{given} yes\n")), "{given}\n{said}");
    }
    let nets: Vec<_> =
        said.lines().filter(|line| line.starts_with("net ")).collect();
    assert!(nets == ["net lo"] || nets == ["net *"], "{said}");
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        let line = format!("{set}:\t0000000000000000\n");
        assert!(said.contains(&line), "{set}\n{said}");
    }
    assert!(said.contains("NoNewPrivs:\t1\n"), "{said}");
    assert!(said.contains("Seccomp:\t2\n"), "{said}");
}

#[tokio::test]
async fn args_come_on_stdin_as_one_line_of_json() {
    let nats = Nats::start();
    let more = "[[artifact]]\nname = \"cat\"\nversion = \"1\"\n\
                class = \"function\"\nimage = \"ovnode/function:1\"\n\
                command = [\"/bin/sh\", \"-c\", \"cat >&3\"]\n";
    let wants = Wants { more: more.into(), ..Wants::over(&nats.url()) };
    let node = Daemon::ready(&wants).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let mut job = sh("");
    job["artifact"]["name"] = "cat".into();
    job["args"] = serde_json::json!({ "text": "a\nb", "n": [1, 2.5, null] });
    let wanted = job["args"].clone();
    let story = dispatch.run_job(job).await;
    assert_eq!(story.exit()["result"], wanted);
}

#[tokio::test]
async fn an_artifact_of_the_owners_is_there_and_cannot_be_changed() {
    let nats = Nats::start();
    let dir = tempfile::tempdir().unwrap();
    let script = "#!/bin/sh\ntouch /artifact/x 2>/dev/null && echo changed\n\
                  echo from $0\n";
    std::fs::write(dir.path().join("go"), script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(dir.path().join("go"), mode).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(dir.path(), open).unwrap();
    let more = format!(
        "[[artifact]]\nname = \"own\"\nversion = \"2.0\"\n\
         class = \"function\"\ndir = \"{}\"\ncommand = [\"/artifact/go\"]\n",
        dir.path().display()
    );
    let wants = Wants { more, ..Wants::over(&nats.url()) };
    let node = Daemon::ready(&wants).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let mut job = sh("");
    job["artifact"] = serde_json::json!({ "name": "own", "version": "2.0" });
    let story = dispatch.run_job(job).await;
    assert_eq!(story.stdout(), "from /artifact/go\n");
    assert_eq!(story.exit()["result"], Value::Null);
}

#[tokio::test]
async fn a_fork_bomb_and_a_disk_filler_hurt_only_themselves() {
    let bomb = "bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 2; \
                dd if=/dev/zero of=/job/fill bs=1M 2>/dev/null; \
                dd if=/dev/zero of=/tmp/fill bs=1M 2>/dev/null; echo over";
    let nats = Nats::start();
    let node = Daemon::ready(&Wants::over(&nats.url())).await;
    let dispatch = Dispatch::connect(&nats.url(), &node.node, "d1").await;
    let mut job = sh(bomb);
    job["limits"]["wall_ms"] = 8000.into();
    let story = dispatch.run_job(job).await;
    assert!(["exited", "limit"].contains(&story.end().0), "{story:?}");
    let next = dispatch.run("echo well").await;
    assert_eq!(next.stdout(), "well\n");
}
