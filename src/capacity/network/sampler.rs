use super::rates::{Counted, Counts, rates, sample};
use crate::capacity::cpu::WINDOW_MS;
use crate::capacity::reading::Reading;
use crate::capacity::root::Root;
use crate::capacity::{CapacityConfig, CapacityError, NetworkSample};
use crate::contract::{MonoMs, Now};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The uplinks.
#[derive(Debug)]
pub(in crate::capacity) struct NetworkSampler {
    root: Root,
    wanted: Vec<String>,
    line_mbps: Option<f64>,
    base: Option<(MonoMs, Counts)>,
    last: Option<NetworkSample>,
}

impl NetworkSampler {
    pub(in crate::capacity) fn new(config: &CapacityConfig) -> Self {
        let usable = |line: &f64| line.is_finite() && *line > 0.0;
        Self {
            root: Root::new(&config.root),
            wanted: config.uplinks.clone(),
            line_mbps: config.line_mbps.filter(usable),
            base: None,
            last: None,
        }
    }

    pub(in crate::capacity) fn sample(
        &mut self,
        now: Now,
    ) -> Reading<NetworkSample> {
        Reading::from(self.measure(now.mono))
    }

    fn measure(
        &mut self,
        now: MonoMs,
    ) -> Result<Option<NetworkSample>, CapacityError> {
        let since =
            self.base.as_ref().map(|(at, _)| now.0.saturating_sub(at.0));
        if since.is_some_and(|ms| ms < WINDOW_MS) {
            return Ok(self.last);
        }
        let uplinks = self.uplinks()?;
        let new: Counts =
            uplinks.iter().filter_map(|name| self.count(name)).collect();
        let line = self.line_mbps.or_else(|| self.line(&uplinks));
        let old = self.base.replace((now, new.clone()));
        self.last = old
            .and_then(|(_, old)| rates(&old, &new, since.unwrap_or(0)))
            .map(|rates| sample(rates, line));
        Ok(self.last)
    }

    /// The owner's list, or every interface with a device behind it. A
    /// member of a bond that is itself listed is counted as the bond.
    fn uplinks(&self) -> Result<Vec<String>, CapacityError> {
        let all = self.root.names(NET)?;
        if self.wanted.is_empty() {
            let physical = |n: &String| self.root.has(file(n, "device"));
            return Ok(all.into_iter().filter(physical).collect());
        }
        let listed = |n: &String| {
            let under = self.bond_of(n);
            self.wanted.contains(n)
                && !under.is_some_and(|bond| self.wanted.contains(&bond))
        };
        Ok(all.into_iter().filter(listed).collect())
    }

    fn count(&self, name: &str) -> Option<((u64, String), Counted)> {
        let index = self.root.number(file(name, "ifindex"))?;
        let received = file(name, "statistics/rx_bytes");
        let sent = file(name, "statistics/tx_bytes");
        let counted = Counted {
            received: self.root.number(received)?,
            sent: self.root.number(sent)?,
            line_mbps: self.speed(name),
        };
        Some(((index, name.to_owned()), counted))
    }

    /// What all uplinks that are up carry together; members of a bond carry
    /// what the bond does. One that does not say makes the sum unknown.
    fn line(&self, uplinks: &[String]) -> Option<f64> {
        let up = |n: &&String| {
            let state = self.root.word(file(n, "operstate"));
            state.as_deref() != Some("down")
        };
        let lines: BTreeSet<String> = uplinks
            .iter()
            .filter(up)
            .map(|n| self.bond_of(n).unwrap_or_else(|| n.clone()))
            .collect();
        if lines.is_empty() {
            return None;
        }
        lines.iter().map(|n| self.speed(n)).sum()
    }

    /// -1, 0 and an error are all a driver's way not to say.
    fn speed(&self, name: &str) -> Option<f64> {
        let mbps = self.root.number(file(name, "speed"))?;
        let said = mbps > 0 && mbps < u64::from(u32::MAX);
        said.then_some(mbps as f64)
    }

    /// The bond that an interface belongs to.
    fn bond_of(&self, name: &str) -> Option<String> {
        let master = self.root.at(file(name, "master"));
        let target = std::fs::read_link(master).ok()?;
        let bond = target.file_name()?.to_str()?.to_owned();
        self.root.has(file(&bond, "bonding")).then_some(bond)
    }
}

const NET: &str = "/sys/class/net";

fn file(name: &str, what: &str) -> PathBuf {
    Path::new(NET).join(name).join(what)
}
