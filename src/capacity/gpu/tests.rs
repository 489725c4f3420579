use super::GpuSampler;
use super::stub::{
    DRIVER_NOT_LOADED, GPU_LOST, NO_PERMISSION, NOT_SUPPORTED, Stub, devices,
};
use crate::capacity::lane::{Lane, Reader};
use crate::capacity::reading::Reading;
use crate::capacity::{CapacityConfig, GpuSample, Resource};
use crate::contract::{Bytes, MonoMs, Now};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

fn config(stub: &Stub, names: Vec<PathBuf>) -> CapacityConfig {
    let root = stub.root().to_owned();
    CapacityConfig { root, nvml: names, ..CapacityConfig::default() }
}

fn sampler(stub: &Stub) -> GpuSampler {
    GpuSampler::new(&config(stub, vec![stub.library()]))
}

fn at(seconds: u64) -> Now {
    Now { mono: MonoMs(seconds * 1000), ..Now::default() }
}

fn uuids(reading: &Reading<Vec<GpuSample>>) -> Vec<&str> {
    let units = reading.value.as_deref().unwrap_or_default();
    units.iter().map(|unit| unit.uuid.as_str()).collect()
}

fn none() -> Vec<String> {
    Vec::new()
}

#[test]
fn a_machine_without_a_driver_is_quiet() {
    let stub = Stub::new("");
    let names = vec![stub.root().join("none.so")];
    let reading = GpuSampler::new(&config(&stub, names)).sample(at(0));
    assert!(reading.value.is_none());
    assert_eq!((reading.warnings, reading.notes), (none(), none()));
}

#[test]
fn a_library_only_at_the_configured_path_is_found() {
    let stub = Stub::new("card GPU-a");
    let names = vec![stub.root().join("none.so"), stub.library()];
    let reading = GpuSampler::new(&config(&stub, names)).sample(at(0));
    let unit = &reading.value.unwrap()[0];
    assert_eq!(unit.uuid, "GPU-a");
    assert_eq!(unit.vram_total, Bytes(8_000_000_000));
    assert_eq!(unit.vram_free, Bytes(6_000_000_000));
    assert_eq!(unit.utilization.unwrap().get(), 0.25);
}

#[test]
fn devices_without_a_library_are_a_warning() {
    let stub = Stub::new("");
    devices(stub.root(), 1);
    let names = vec![stub.root().join("none.so")];
    let reading = GpuSampler::new(&config(&stub, names)).sample(at(0));
    assert!(reading.warnings[0].contains("NVIDIA devices are there"));
}

#[test]
fn a_driver_that_fails_is_a_warning_only_where_there_are_devices() {
    for code in [DRIVER_NOT_LOADED, NO_PERMISSION, 999] {
        let stub = Stub::new(&format!("init {code}"));
        let reading = sampler(&stub).sample(at(0));
        assert_eq!((reading.warnings.len(), reading.notes.len()), (0, 1));
        devices(stub.root(), 1);
        let reading = sampler(&stub).sample(at(0));
        assert!(reading.value.is_none());
        assert!(reading.warnings[0].contains("does not work"), "{code}");
    }
}

#[test]
fn a_driver_too_old_to_say_its_memory_leaves_the_card_out_and_says_so() {
    let stub = Stub::old("card GPU-a");
    let reading = sampler(&stub).sample(at(0));
    assert_eq!(uuids(&reading), Vec::<&str>::new());
    assert!(reading.warnings[0].starts_with("GPU-a is left out"));
}

#[test]
fn one_lost_card_among_several_costs_itself_alone() {
    let all = "card GPU-a\ncard GPU-b\ncard GPU-c\n";
    let stub = Stub::new(all);
    let mut gpu = sampler(&stub);
    assert_eq!(uuids(&gpu.sample(at(0))), ["GPU-a", "GPU-b", "GPU-c"]);
    for call in ["handle", "uuid", "memory", "util"] {
        let lost = format!("GPU-b\nfail {call} {GPU_LOST}");
        stub.says(&all.replace("GPU-b", &lost));
        let reading = gpu.sample(at(1));
        assert_eq!(uuids(&reading), ["GPU-a", "GPU-c"], "{call}");
        assert_eq!(reading.warnings.len(), 1, "{call}");
        assert!(reading.warnings[0].starts_with("GPU-b is l"), "{call}");
    }
    // Then the driver counts it no longer, and the others move up.
    stub.says("card GPU-a\ncard GPU-c\n");
    let reading = gpu.sample(at(2));
    assert_eq!(uuids(&reading), ["GPU-a", "GPU-c"]);
    assert!(reading.warnings[0].starts_with("GPU-b is lost"));
}

#[test]
fn a_card_in_mig_mode_is_offered_by_its_instances_or_not_at_all() {
    let stub = Stub::new(
        "card GPU-0\n\
         card GPU-1\nmig\ninstance MIG-1\ninstance MIG-2\ninstance MIG-3\n\
         card GPU-2\nmig\n",
    );
    let mut gpu = sampler(&stub);
    let reading = gpu.sample(at(0));
    assert_eq!(uuids(&reading), ["GPU-0", "MIG-1", "MIG-2", "MIG-3"]);
    assert_eq!(reading.warnings, none());
    assert!(reading.notes[0].starts_with("GPU-2 is in MIG mode"));
    // It is switched off while the daemon runs.
    stub.says("card GPU-0\ncard GPU-1\ncard GPU-2\n");
    assert_eq!(uuids(&gpu.sample(at(1))), ["GPU-0", "GPU-1", "GPU-2"]);
}

#[test]
fn a_card_whose_mode_is_not_told_is_not_given_away_whole() {
    let stub = Stub::new(&format!("card GPU-a\nfail mode {NO_PERMISSION}"));
    let reading = sampler(&stub).sample(at(0));
    assert_eq!(uuids(&reading), Vec::<&str>::new());
    assert!(reading.warnings[0].starts_with("GPU-a is left out"));
}

#[test]
fn utilisation_that_is_not_told_is_absent_not_zero() {
    for code in [NOT_SUPPORTED, NO_PERMISSION] {
        let stub = Stub::new(&format!("card GPU-a\nfail util {code}"));
        let reading = sampler(&stub).sample(at(0));
        assert_eq!(reading.value.unwrap()[0].utilization, None);
        assert_eq!(reading.warnings, none());
    }
}

#[test]
fn a_card_without_name_or_uuid_is_not_offered() {
    let stub = Stub::new("card GPU-a\nname -\ncard -\ncard GPU-b\n");
    let reading = sampler(&stub).sample(at(0));
    assert_eq!(uuids(&reading), ["GPU-b"]);
    assert_eq!((reading.notes.len(), reading.warnings.len()), (2, 0));
}

#[test]
fn a_driver_that_comes_up_late_is_noticed_within_a_minute() {
    let stub = Stub::new(&format!("init {DRIVER_NOT_LOADED}"));
    let mut gpu = sampler(&stub);
    assert!(gpu.sample(at(0)).value.is_none());
    stub.says("card GPU-a");
    assert!(gpu.sample(at(59)).value.is_none());
    assert_eq!(uuids(&gpu.sample(at(60))), ["GPU-a"]);
    // A driver that stops answering is let go, and found again.
    stub.says("count 1");
    let reading = gpu.sample(at(61));
    assert!(reading.warnings[0].contains("does not answer"));
    stub.says("card GPU-a");
    assert_eq!(uuids(&gpu.sample(at(121))), ["GPU-a"]);
}

#[tokio::test]
async fn a_call_that_hangs_is_said_and_its_return_is_noticed() {
    let stub = Stub::new("card GPU-a");
    let config = config(&stub, vec![stub.library()]);
    let maker = move || -> Reader<Vec<GpuSample>> {
        let mut gpu = GpuSampler::new(&config);
        Box::new(move |now| gpu.sample(now))
    };
    let mut lane = Lane::new(Resource::Gpu, Arc::new(maker));
    let (long, short) = (Duration::from_secs(60), Duration::from_millis(1));
    assert_eq!(uuids(&lane.ask(at(0), long).await), ["GPU-a"]);
    stub.says("hang memory\ncard GPU-a");
    let asleep = lane.ask(at(1), short).await;
    assert!(asleep.warnings[0].contains("has not answered"));
    let asleep = lane.ask(at(9), long).await;
    assert_eq!(asleep.warnings, ["has not answered for 8.0 s"]);
    stub.says("card GPU-a");
    while uuids(&lane.ask(at(10), long).await).is_empty() {
        tokio::task::yield_now().await;
    }
}
