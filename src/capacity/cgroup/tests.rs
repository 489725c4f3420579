use super::limit::{CpuSet, parse_cpus};
use super::{cpu_bound, memory_bounds, memory_used, ways};
use crate::capacity::root::Root;
use crate::contract::{Bytes, MilliCores};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const V2: &str = "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
const V1: &str = "\
32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct
33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
";

fn write(root: &TempDir, path: &str, text: &str) {
    let path = root.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn machine(mounts: &str, own: &str) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    write(&root, "proc/self/mountinfo", mounts);
    write(&root, "proc/self/cgroup", own);
    root
}

fn at(root: &TempDir) -> Root {
    Root::new(root.path())
}

#[test]
fn a_parents_tighter_limit_wins_on_v2() {
    let root = machine(V2, "0::/a.slice/b.service\n");
    let cg = "sys/fs/cgroup";
    write(&root, &format!("{cg}/a.slice/memory.max"), "1000000\n");
    write(&root, &format!("{cg}/a.slice/cpu.max"), "150000 100000\n");
    write(&root, &format!("{cg}/a.slice/b.service/memory.max"), "9000000\n");
    write(&root, &format!("{cg}/a.slice/b.service/cpu.max"), "max 100000\n");
    let root = at(&root);
    let way = ways(&root, "memory", None).jobs;
    let tightest =
        memory_bounds(&root, &way).into_iter().min_by_key(|b| b.limit);
    let tightest = tightest.unwrap();
    assert_eq!(tightest.limit, Bytes(1_000_000));
    assert_eq!(tightest.place.name, "/a.slice");
    let way = ways(&root, "cpu", None).jobs;
    let quota = cpu_bound(&root, &way, &[]).quota;
    assert_eq!(quota, Some((MilliCores(1500), "/a.slice".into())));
}

#[test]
fn v1_limits_are_read_from_each_controllers_own_hierarchy() {
    let own = "4:memory:/m\n3:cpuset:/s\n1:cpu,cpuacct:/c\n0::/\n";
    let root = machine(V1, own);
    let cg = "sys/fs/cgroup";
    write(&root, &format!("{cg}/memory/m/memory.limit_in_bytes"), "4096\n");
    let unlimited = "9223372036854771712\n";
    write(&root, &format!("{cg}/memory/memory.limit_in_bytes"), unlimited);
    write(&root, &format!("{cg}/cpu/c/cpu.cfs_quota_us"), "50000\n");
    write(&root, &format!("{cg}/cpu/c/cpu.cfs_period_us"), "100000\n");
    write(&root, &format!("{cg}/cpu/cpu.cfs_quota_us"), "-1\n");
    write(&root, &format!("{cg}/cpu/cpu.cfs_period_us"), "100000\n");
    write(&root, &format!("{cg}/cpuset/s/cpuset.cpus"), "0,2-3\n");
    let root = at(&root);
    let bounds = memory_bounds(&root, &ways(&root, "memory", None).jobs);
    assert_eq!(bounds.len(), 1);
    assert_eq!(bounds[0].limit, Bytes(4096));
    let bound = cpu_bound(
        &root,
        &ways(&root, "cpu", None).jobs,
        &ways(&root, "cpuset", None).jobs,
    );
    assert_eq!(bound.quota, Some((MilliCores(500), "/c".into())));
    let (cpus, by) = bound.cpus.unwrap();
    assert_eq!((cpus, by.as_str()), (CpuSet::from([0, 2, 3]), "/s"));
}

#[test]
fn a_container_that_sees_only_its_own_part_still_finds_its_limit() {
    let mounts = "9 1 0:3 /docker/abc /sys/fs/cgroup/memory ro - \
                  cgroup cgroup rw,memory\n";
    let root = machine(mounts, "4:memory:/docker/abc\n");
    write(&root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n");
    let root = at(&root);
    let own = ways(&root, "memory", None).jobs;
    assert_eq!(own.len(), 1);
    assert_eq!(own[0].dir, Path::new("/sys/fs/cgroup/memory/"));
    assert_eq!(memory_bounds(&root, &own)[0].limit, Bytes(4096));
}

#[test]
fn the_jobs_way_is_theirs_alone_and_starts_where_it_exists() {
    let root = machine(V2, "0::/daemon\n");
    write(&root, "sys/fs/cgroup/daemon/memory.max", "4096\n");
    write(&root, "sys/fs/cgroup/cgroup.procs", "");
    let root = at(&root);
    let both = ways(&root, "memory", Some("/docker"));
    assert_eq!(memory_bounds(&root, &both.jobs), []);
    assert_eq!(memory_bounds(&root, &both.own)[0].limit, Bytes(4096));
}

#[test]
fn file_pages_that_nobody_used_of_late_count_as_free() {
    let root = machine(V2, "0::/\n");
    write(&root, "sys/fs/cgroup/memory.current", "1000\n");
    write(
        &root,
        "sys/fs/cgroup/memory.stat",
        "anon 1\ninactive_file 300\nactive_file 7\n",
    );
    let root = at(&root);
    let way = ways(&root, "memory", None).jobs;
    assert_eq!(memory_used(&root, &way[0]), Some(Bytes(700)));
}

#[test]
fn lists_of_processors_are_parsed_or_refused() {
    assert_eq!(parse_cpus("0-1,5"), Some(CpuSet::from([0, 1, 5])));
    assert_eq!(parse_cpus(""), Some(CpuSet::new()));
    for wrong in ["a", "1-", "0-4294967295", "-1"] {
        assert_eq!(parse_cpus(wrong), None, "{wrong}");
    }
}
