use super::CpuSampler;
use super::ticks::{AllTicks, Ticks, parse_stat, window};
use crate::capacity::CapacityConfig;
use crate::capacity::cgroup::CpuBound;
use crate::contract::{MilliCores, MonoMs, Now};
use proptest::prelude::{any, prop_assert, proptest};
use std::collections::BTreeSet;
use std::fs;
use tempfile::TempDir;

fn stat(root: &TempDir, cpus: &[(u32, u64, u64)]) {
    let mut text = "cpu  9 9 9 9 9 9 9 9 9 9\n".to_owned();
    for (cpu, busy, idle) in cpus {
        text += &format!("cpu{cpu} {busy} 0 0 {idle} 0 0 0 0 0 0\n");
    }
    fs::create_dir_all(root.path().join("proc")).unwrap();
    fs::write(root.path().join("proc/stat"), text + "intr 1 2 3\n").unwrap();
}

fn sampler(root: &TempDir) -> CpuSampler {
    let root = root.path().to_owned();
    CpuSampler::new(&CapacityConfig { root, ..CapacityConfig::default() })
}

fn at(ms: u64) -> Now {
    Now { mono: MonoMs(ms), ..Now::default() }
}

#[test]
fn the_first_reading_says_nothing_rather_than_zero() {
    let root = tempfile::tempdir().unwrap();
    stat(&root, &[(0, 100, 0), (1, 100, 0)]);
    let mut cpu = sampler(&root);
    assert_eq!(cpu.sample(at(0)).value, None);
    stat(&root, &[(0, 200, 0), (1, 150, 50)]);
    let sample = cpu.sample(at(1000)).value.unwrap();
    assert_eq!(sample.utilization.get(), 0.75);
    assert_eq!(sample.total, MilliCores(2000));
    assert_eq!(sample.free, MilliCores(500));
    assert_eq!(sample.bound_by, "machine");
}

#[test]
fn who_asks_too_soon_gets_the_last_answer_again() {
    let root = tempfile::tempdir().unwrap();
    stat(&root, &[(0, 0, 0)]);
    let mut cpu = sampler(&root);
    assert_eq!(cpu.sample(at(0)).value, None);
    stat(&root, &[(0, 1, 0)]);
    assert_eq!(cpu.sample(at(1)).value, None);
    stat(&root, &[(0, 50, 50)]);
    let sample = cpu.sample(at(1000)).value;
    stat(&root, &[(0, 50, 51)]);
    assert_eq!(cpu.sample(at(1001)).value, sample);
    // The window is still the one that began at 1,000.
    stat(&root, &[(0, 150, 50)]);
    let next = cpu.sample(at(2000)).value.unwrap();
    assert_eq!(next.utilization.get(), 1.0);
}

#[test]
fn a_processor_that_goes_away_takes_its_core_with_it_and_may_return() {
    let root = tempfile::tempdir().unwrap();
    stat(&root, &[(0, 0, 0), (1, 500, 500)]);
    let mut cpu = sampler(&root);
    cpu.sample(at(0));
    stat(&root, &[(0, 50, 50)]);
    let sample = cpu.sample(at(1000)).value.unwrap();
    assert_eq!(sample.total, MilliCores(1000));
    assert_eq!(sample.utilization.get(), 0.5);
    stat(&root, &[(0, 50, 150), (1, 3, 4)]);
    let sample = cpu.sample(at(2000)).value.unwrap();
    assert_eq!(sample.total, MilliCores(2000));
    assert_eq!(sample.utilization.get(), 0.0);
}

#[test]
fn a_quota_below_what_is_idle_is_all_free() {
    let old = AllTicks::from([(0, ticks(0, 0)), (1, ticks(0, 0))]);
    let new = AllTicks::from([(0, ticks(100, 0)), (1, ticks(0, 100))]);
    let quota = Some((MilliCores(800), "/docker".to_owned()));
    let bound = CpuBound { quota, cpus: None };
    let sample = window(&old, &new, &bound).unwrap();
    assert_eq!(sample.total, MilliCores(800));
    assert_eq!(sample.free, MilliCores(800));
    assert_eq!(sample.bound_by, "/docker");
}

#[test]
fn a_cpuset_counts_only_its_own_processors() {
    let old = AllTicks::from([(0, ticks(0, 0)), (1, ticks(0, 0))]);
    let new = AllTicks::from([(0, ticks(100, 0)), (1, ticks(25, 75))]);
    let cpus = Some((BTreeSet::from([1]), "/jobs".to_owned()));
    let bound = CpuBound { quota: None, cpus };
    let sample = window(&old, &new, &bound).unwrap();
    assert_eq!(sample.total, MilliCores(1000));
    assert_eq!(sample.free, MilliCores(750));
    assert_eq!(sample.utilization.get(), 0.25);
    assert_eq!(sample.bound_by, "/jobs");
}

#[test]
fn a_stat_that_cannot_be_read_is_a_warning() {
    let root = tempfile::tempdir().unwrap();
    let reading = sampler(&root).sample(at(0));
    assert_eq!(reading.value, None);
    assert!(reading.warnings[0].contains("proc/stat"));
}

proptest! {
    #[test]
    fn no_counters_make_a_share_outside_of_zero_to_one(
        (a, b, c, d) in any::<(u64, u64, u64, u64)>(),
    ) {
        let old = AllTicks::from([(0, ticks(a, b))]);
        let new = AllTicks::from([(0, ticks(c, d))]);
        if let Some(sample) = window(&old, &new, &CpuBound::default()) {
            prop_assert!((0.0..=1.0).contains(&sample.utilization.get()));
            prop_assert!(sample.free <= sample.total);
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in ".*") {
        drop(parse_stat(&text));
    }
}

fn ticks(busy: u64, idle: u64) -> Ticks {
    Ticks { busy, idle }
}
