use super::NetworkSampler;
use crate::capacity::{CapacityConfig, NetworkSample};
use crate::contract::{MonoMs, Now};
use proptest::prelude::{any, prop_assert, proptest};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use tempfile::TempDir;

struct Net(TempDir);

impl Net {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn dir(&self, name: &str) -> PathBuf {
        let dir = self.0.path().join("sys/class/net").join(name);
        fs::create_dir_all(dir.join("statistics")).unwrap();
        dir
    }

    fn put(&self, name: &str, file: &str, text: impl ToString) {
        fs::write(self.dir(name).join(file), text.to_string()).unwrap();
    }

    fn counts(&self, name: &str, index: u64, received: u64, sent: u64) {
        self.put(name, "ifindex", index);
        self.put(name, "statistics/rx_bytes", received);
        self.put(name, "statistics/tx_bytes", sent);
    }

    /// One with a device behind it.
    fn physical(&self, name: &str, index: u64, speed: i64) {
        self.counts(name, index, 0, 0);
        self.put(name, "speed", speed);
        fs::create_dir_all(self.dir(name).join("device")).unwrap();
    }

    fn sampler(&self, uplinks: &[&str]) -> NetworkSampler {
        NetworkSampler::new(&CapacityConfig {
            root: self.0.path().to_owned(),
            uplinks: uplinks.iter().map(ToString::to_string).collect(),
            ..CapacityConfig::default()
        })
    }
}

fn at(net: &mut NetworkSampler, seconds: u64) -> Option<NetworkSample> {
    let mono = MonoMs(seconds * 1000);
    let reading = net.sample(Now { mono, ..Now::default() });
    assert_eq!(reading.warnings, Vec::<String>::new());
    reading.value
}

fn said(ingress: f64, egress: f64, line: Option<f64>) -> Option<NetworkSample> {
    Some(NetworkSample {
        ingress_mbps: ingress,
        egress_mbps: egress,
        line_mbps: line,
    })
}

#[test]
fn only_what_has_a_device_behind_it_is_counted() {
    let net = Net::new();
    net.physical("eth0", 2, 1000);
    for (index, name) in ["lo", "docker0", "veth1", "tun0"].iter().enumerate() {
        net.counts(name, index as u64 + 10, 0, 0);
    }
    let mut sampler = net.sampler(&[]);
    assert_eq!(at(&mut sampler, 0), None);
    net.counts("eth0", 2, 1_000_000, 500_000);
    net.counts("docker0", 11, 9_000_000, 9_000_000);
    net.counts("tun0", 13, 9_000_000, 9_000_000);
    assert_eq!(at(&mut sampler, 1), said(8.0, 4.0, Some(1000.0)));
}

#[test]
fn a_bond_is_counted_once_and_its_speed_is_the_line() {
    let net = Net::new();
    net.physical("eth0", 2, 1000);
    net.physical("eth1", 3, 1000);
    net.counts("bond0", 4, 0, 0);
    net.put("bond0", "speed", 1000);
    fs::create_dir_all(net.dir("bond0").join("bonding")).unwrap();
    for member in ["eth0", "eth1"] {
        symlink("../bond0", net.dir(member).join("master")).unwrap();
    }
    for listed in [&[][..], &["bond0", "eth0", "eth1"]] {
        net.counts("eth0", 2, 0, 0);
        net.counts("bond0", 4, 0, 0);
        let mut sampler = net.sampler(listed);
        assert_eq!(at(&mut sampler, 0), None);
        net.counts("eth0", 2, 1_000_000, 0);
        net.counts("bond0", 4, 1_000_000, 0);
        assert_eq!(at(&mut sampler, 1), said(8.0, 0.0, Some(1000.0)));
    }
}

#[test]
fn an_interface_made_anew_under_its_old_name_makes_no_jump() {
    let net = Net::new();
    net.physical("eth0", 2, -1);
    net.counts("eth0", 2, 5_000_000, 0);
    let mut sampler = net.sampler(&[]);
    at(&mut sampler, 0);
    net.counts("eth0", 7, 9_000_000, 0);
    assert_eq!(at(&mut sampler, 1), None);
    net.counts("eth0", 7, 10_000_000, 0);
    assert_eq!(at(&mut sampler, 2), said(8.0, 0.0, None));
}

#[test]
fn the_window_of_a_reset_or_a_wrap_is_left_out() {
    let edges = [u64::from(u32::MAX) - 10, u64::MAX - 10, 77];
    for before in edges {
        let net = Net::new();
        net.physical("eth0", 2, 1000);
        net.counts("eth0", 2, before, before);
        let mut sampler = net.sampler(&[]);
        at(&mut sampler, 0);
        net.counts("eth0", 2, 5, 5);
        assert_eq!(at(&mut sampler, 1), None, "{before}");
        net.counts("eth0", 2, 1_000_005, 5);
        assert_eq!(at(&mut sampler, 2), said(8.0, 0.0, Some(1000.0)));
    }
}

#[test]
fn a_line_nobody_knows_is_absent_and_one_that_is_down_does_not_count() {
    let net = Net::new();
    net.physical("eth0", 2, 1000);
    net.physical("eth1", 3, -1);
    let mut sampler = net.sampler(&[]);
    at(&mut sampler, 0);
    assert_eq!(at(&mut sampler, 1), said(0.0, 0.0, None));
    net.put("eth1", "operstate", "down\n");
    assert_eq!(at(&mut sampler, 2), said(0.0, 0.0, Some(1000.0)));
}

#[test]
fn a_machine_without_uplinks_says_nothing_and_complains_of_nothing() {
    let net = Net::new();
    let mut sampler = net.sampler(&[]);
    assert_eq!(at(&mut sampler, 0), None);
    assert_eq!(at(&mut sampler, 1), None);
}

proptest! {
    #[test]
    fn no_counters_make_a_rate_below_zero_or_above_the_line(
        old in any::<(u64, u64)>(), new in any::<(u64, u64)>(),
    ) {
        use super::rates::{Counted, Counts, rates};
        let counts = |(received, sent)| {
            let line_mbps = Some(1000.0);
            let counted = Counted { received, sent, line_mbps };
            Counts::from([((2, "eth0".to_owned()), counted)])
        };
        if let Some(found) = rates(&counts(old), &counts(new), 1000) {
            for rate in [found.0, found.1] {
                prop_assert!((0.0..=1000.0).contains(&rate));
            }
        }
    }
}
