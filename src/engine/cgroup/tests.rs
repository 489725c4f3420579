use super::{Cgroup, CgroupUsage};
use crate::contract::Bytes;
use crate::engine::{ContainerId, EngineError};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

const ID: &str = "c0ffee";

/// A `/proc` and cgroup trees below one folder.
struct Host(TempDir);

impl Host {
    fn new(mountinfo: &str, cgroup: &str) -> Self {
        let host = Self(tempfile::tempdir().unwrap());
        let root = host.0.path().display().to_string();
        host.lay("proc/self/mountinfo", &mountinfo.replace("ROOT", &root));
        host.lay("proc/7/cgroup", cgroup);
        host
    }

    /// Engine 20.10 with the cgroupfs driver.
    fn v1() -> Self {
        let mount = |name: &str| {
            format!(
                "30 29 0:26 / ROOT/fs/{name} rw,relatime shared:9 - \
                 cgroup cgroup rw,{name}\n"
            )
        };
        let mounts: String =
            ["cpu", "cpuacct", "memory", "pids"].map(mount).concat();
        let cgroup = "8:pids:/docker/c0ffee\n4:memory:/docker/c0ffee\n\
                      2:cpuacct:/docker/c0ffee\n1:cpu:/docker/c0ffee\n0::/\n";
        let host = Self::new(&mounts, cgroup);
        let fs = |name: &str, text: &str| host.lay(&format!("fs/{name}"), text);
        fs("cpuacct/docker/c0ffee/cpuacct.usage", "1500000000\n");
        fs("cpu/docker/c0ffee/cpu.cfs_quota_us", "50000\n");
        fs("memory/docker/c0ffee/memory.max_usage_in_bytes", "4096\n");
        let oom = "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n";
        fs("memory/docker/c0ffee/memory.oom_control", oom);
        fs("pids/docker/c0ffee/cgroup.procs", "7\n9\n");
        host
    }

    /// Engine 29 with the systemd driver.
    fn v2() -> Self {
        let mounts = "24 20 0:21 / ROOT/fs rw,nosuid - cgroup2 cgroup2 rw\n";
        let cgroup = "0::/system.slice/docker-c0ffee.scope\n";
        let host = Self::new(mounts, cgroup);
        let fs = |name: &str, text: &str| {
            let scope = "fs/system.slice/docker-c0ffee.scope";
            host.lay(&format!("{scope}/{name}"), text);
        };
        fs("cpu.stat", "usage_usec 2500\nuser_usec 2000\nsystem_usec 500\n");
        fs("cpu.max", "50000 100000\n");
        fs("memory.events", "low 0\nmax 3\noom 1\noom_kill 1\n");
        fs("cgroup.procs", "7\n");
        fs("below/cgroup.procs", "11\n");
        host
    }

    fn lay(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.0.path().join(path)).unwrap()
    }

    fn cgroup(&self, id: &str) -> Result<Cgroup, EngineError> {
        let id = ContainerId(id.to_owned());
        Cgroup::below(&self.0.path().join("proc"), 7, &id)
    }
}

#[test]
fn v1_is_read_from_a_tree_for_each_controller() {
    let host = Host::v1();
    let wanted = CgroupUsage {
        cpu: Some(Duration::from_millis(1500)),
        memory_peak: Some(Bytes(4096)),
        oom_kills: Some(2),
        processes: Some(2),
    };
    assert_eq!(host.cgroup(ID).unwrap().usage(), wanted);
}

#[test]
fn v2_is_read_from_one_tree_and_what_a_kernel_lacks_is_absent() {
    let host = Host::v2();
    let wanted = CgroupUsage {
        cpu: Some(Duration::from_micros(2500)),
        memory_peak: None, // no `memory.peak` before kernel 5.19
        oom_kills: Some(1),
        processes: Some(2),
    };
    assert_eq!(host.cgroup(ID).unwrap().usage(), wanted);
}

#[test]
fn a_quota_is_lifted_in_either_version() {
    let (v1, v2) = (Host::v1(), Host::v2());
    v1.cgroup(ID).unwrap().lift_quota().unwrap();
    v2.cgroup(ID).unwrap().lift_quota().unwrap();
    assert_eq!(v1.text("fs/cpu/docker/c0ffee/cpu.cfs_quota_us"), "-1");
    let scope = "fs/system.slice/docker-c0ffee.scope";
    assert_eq!(v2.text(&format!("{scope}/cpu.max")), "max");
}

#[test]
fn a_process_that_is_another_containers_by_now_has_no_cgroup_for_us() {
    let other = Host::v1().cgroup("decaf");
    assert!(matches!(other, Err(EngineError::Host { .. })));
    let nobody = Host::v1().cgroup("");
    assert!(matches!(nobody, Err(EngineError::Host { .. })));
}

#[test]
fn a_cgroup_that_is_gone_holds_no_process() {
    let host = Host::v1();
    let cgroup = host.cgroup(ID).unwrap();
    std::fs::remove_dir_all(host.0.path().join("fs")).unwrap();
    let gone = CgroupUsage { processes: Some(0), ..CgroupUsage::default() };
    assert_eq!(cgroup.usage(), gone);
    cgroup.lift_quota().unwrap();
    cgroup.kill_all().unwrap();
}

#[test]
fn a_daemon_in_a_container_sees_only_its_part_of_the_tree() {
    let mounts = "24 20 0:21 /outer ROOT/fs rw - cgroup2 cgroup2 rw\n";
    let host = Host::new(mounts, "0::/outer/docker/c0ffee\n");
    host.lay("fs/docker/c0ffee/cgroup.procs", "7\n");
    assert_eq!(host.cgroup(ID).unwrap().usage().processes, Some(1));
    let climbing = Host::new(mounts, "0::/../docker/c0ffee\n");
    assert!(climbing.cgroup(ID).is_err());
}

#[test]
fn our_own_process_is_of_no_container() {
    let pid = std::process::id();
    assert!(Path::new("/proc/self/cgroup").exists());
    assert!(Cgroup::of(pid, &ContainerId("c0ffee".repeat(9))).is_err());
}
