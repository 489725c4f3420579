use crate::sandbox::{Sandbox, command, run, script};
use ovnode::init::{EndedBy, FromInit, Outcome, ToInit, code, names};
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn reason(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::CannotStart(reason) => reason,
        Outcome::Exited(_) | Outcome::Signalled(_) => "it started",
    }
}

#[test]
fn every_code_is_the_programs_own() {
    for code in [0, 1, 2, 77, 125, 126, 127, 128, 130, 137, 139, 143, 254, 255]
    {
        let ended = run(script(&format!("exit {code}")));
        assert_eq!(ended.record.outcome, Outcome::Exited(code));
        assert_eq!(ended.record.ended_by, EndedBy::Program);
    }
}

#[test]
fn a_signal_is_no_code() {
    for signal in [9, 11, 15] {
        let ended = run(script(&format!("kill -{signal} $$")));
        assert_eq!(ended.record.outcome, Outcome::Signalled(signal));
        assert_eq!(ended.record.ended_by, EndedBy::Program);
    }
}

#[test]
fn a_job_has_a_start_and_an_end_on_both_clocks() {
    let record = run(script("sleep 0.2")).record;
    let mono = record.ended_mono_ms - record.started_mono_ms.unwrap();
    let boot = record.ended_boot_ms - record.started_boot_ms.unwrap();
    assert!((199..60_000).contains(&mono), "{mono}");
    assert!((199..60_000).contains(&boot), "{boot}");
}

#[test]
fn what_cannot_be_executed_never_started() {
    let dir = tempfile::tempdir().unwrap();
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(dir.path(), open.clone()).unwrap();
    let put = |name: &str, bytes: &[u8]| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, open.clone()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let mut arm = b"\x7fELF\x02\x01\x01".to_vec();
    arm.resize(64, 0);
    arm[18] = 183;
    for (program, why) in [
        ("/no/such/program".to_owned(), "is not there"),
        ("nothing-of-this-name".to_owned(), "not in PATH"),
        ("/etc/passwd".to_owned(), "not executable"),
        ("/etc".to_owned(), "not a file"),
        (put("arm", &arm), "another architecture"),
        (put("text", b"words\n"), "neither a program nor a script"),
        (put("script", b"#!/no/such/shell\n"), "interpreter"),
    ] {
        let ended = run(command(&[&program]));
        let said = reason(&ended.record.outcome);
        assert!(said.contains(why), "{program}: {said}");
        assert_eq!(ended.record.started_mono_ms, None);
        assert_eq!(ended.record.stdout_end, 0);
    }
}

#[test]
fn orders_that_cannot_be_followed_are_no_start() {
    let with = |change: fn(&mut ovnode::init::Orders)| {
        let mut orders = script("true");
        change(&mut orders);
        reason(&run(orders).record.outcome).to_owned()
    };
    assert!(with(|o| o.argv.clear()).contains("no program"));
    assert!(with(|o| o.uid = 0).contains("root"));
    assert!(with(|o| o.gid = 0).contains("root"));
    assert!(with(|o| o.cwd = "/no/such".into()).contains("/no/such"));
    assert!(with(|o| o.argv[2] = "a\0b".into()).contains("nul byte"));
}

#[test]
fn a_job_that_could_not_start_is_never_said_to_have_started() {
    let mut sandbox = Sandbox::new();
    sandbox.start(&[]);
    let mut line = sandbox.accept();
    line.run(command(&["/no/such/program"]));
    assert_eq!(line.hear(), FromInit::Ended);
}

#[test]
fn malformed_orders_are_answered_with_a_record() {
    for raw in [&b"nonsense\n"[..], b"{\"run\":{}}\n", b"\xff\n"] {
        let mut sandbox = Sandbox::new();
        sandbox.start(&[]);
        let mut line = sandbox.accept();
        line.hear();
        line.say_raw(raw);
        let ended = sandbox.end(line);
        let said = reason(&ended.record.outcome);
        assert!(said.contains("could not be read"), "{said}");
    }
}

#[test]
fn a_cancel_before_the_orders_ends_the_sandbox() {
    let mut sandbox = Sandbox::new();
    sandbox.start(&[]);
    let mut line = sandbox.accept();
    line.hear();
    line.say(&ToInit::Cancel { grace_ms: 0 });
    let ended = sandbox.end(line);
    assert_eq!(ended.record.ended_by, EndedBy::Cancel);
    assert!(reason(&ended.record.outcome).contains("cancelled"));
}

#[test]
fn a_job_that_was_begun_is_not_run_again() {
    let mut first = Sandbox::new();
    fs::write(first.path().join(names::BEGUN), "{}").unwrap();
    first.start(&[]);
    assert_eq!(first.exit().code(), Some(i32::from(code::BEGUN_BEFORE)));
    assert!(!first.path().join(names::EXIT).exists());

    // Not even where it was begun after this one had come up.
    let mut second = Sandbox::new();
    second.start(&[]);
    let mut line = second.accept();
    fs::write(second.path().join(names::BEGUN), "{}").unwrap();
    line.run(script("echo ran"));
    assert_eq!(second.exit().code(), Some(i32::from(code::BEGUN_BEFORE)));
    assert!(!second.path().join(names::EXIT).exists());
    assert_eq!(second.ring(names::STDOUT), b"");
}
