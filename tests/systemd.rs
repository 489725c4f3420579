//! The files for systemd say what the daemon does.

const UNIT: &str = include_str!("../systemd/ovnode.service");

/// Every `key=value` of the unit.
fn settings() -> Vec<(&'static str, &'static str)> {
    UNIT.lines()
        .filter(|line| !line.is_empty() && !line.starts_with(['#', '[']))
        .map(|line| line.split_once('=').expect("a setting"))
        .collect()
}

fn says(key: &str, value: &str) -> bool {
    settings().contains(&(key, value))
}

#[test]
fn a_fault_in_the_configuration_is_not_tried_again_and_all_else_is() {
    assert!(says("Restart", "always"));
    assert!(says("RestartPreventExitStatus", "78"));
    assert!(says("StartLimitIntervalSec", "0"));
}

#[test]
fn neither_nats_nor_the_engine_takes_the_daemon_with_it() {
    let bound = ["Requires", "BindsTo", "Requisite", "PartOf"];
    assert!(settings().iter().all(|(key, _)| !bound.contains(key)));
}

#[test]
fn a_stop_signals_the_daemon_alone_which_ends_its_jobs_itself() {
    assert!(says("KillMode", "process"));
}

#[test]
fn the_unit_stands_before_systemds_own_eyes() {
    let Ok(found) =
        std::process::Command::new("systemd-analyze").arg("--version").output()
    else {
        return; // Not on this machine.
    };
    assert!(found.status.success());
    let folder = tempfile::tempdir().unwrap();
    let unit = folder.path().join("ovnode.service");
    // The command need not be installed where this is tested.
    let exists = UNIT.replace("/usr/bin/ovnode run", "/bin/true run");
    std::fs::write(&unit, exists).unwrap();
    let verified = std::process::Command::new("systemd-analyze")
        .arg("verify")
        .arg(&unit)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&verified.stderr);
    assert!(verified.status.success(), "{said}");
    assert!(!said.contains("ovnode.service"), "{said}");
}
