use crate::contract::{Amount, RuntimeClass};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The last so many of an operation are what its figures are made of: few
/// enough to sort in microseconds, enough for six of them to lie above p95.
const WINDOW: usize = 128;

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// An offer, from being said to the server's having it.
    Publish,
    /// A job, from its receipt to its `ack`.
    Ack,
    /// A job of a class, from its receipt to its exec.
    Start(RuntimeClass),
}

impl Operation {
    fn name(self) -> String {
        match self {
            Self::Publish => "publish".to_owned(),
            Self::Ack => "ack".to_owned(),
            Self::Start(class) => format!("start_{class}"),
        }
    }
}

/// How long the node's own operations took of late.
#[derive(Clone, Debug, Default)]
pub struct Latencies(Arc<Mutex<BTreeMap<Operation, Window>>>);

impl Latencies {
    /// Keeps one; the oldest of its operation makes room.
    pub fn record(&self, operation: Operation, took: Duration) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(operation).or_default().keep(took);
    }

    /// `<operation>_p50` and `_p95` in milliseconds, of those that were
    /// timed at all.
    pub fn summary(&self) -> BTreeMap<String, Amount> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut summary = BTreeMap::new();
        for (operation, window) in all.iter() {
            let sorted = window.sorted();
            for percent in [50, 95] {
                let name = format!("{}_p{percent}", operation.name());
                let at = rank(&sorted, percent).and_then(milliseconds);
                summary.extend(at.map(|at| (name, at)));
            }
        }
        summary
    }
}

#[derive(Debug, Default)]
struct Window(VecDeque<Duration>);

impl Window {
    fn keep(&mut self, took: Duration) {
        if self.0.len() == WINDOW {
            self.0.pop_front();
        }
        self.0.push_back(took);
    }

    fn sorted(&self) -> Vec<Duration> {
        let mut sorted: Vec<_> = self.0.iter().copied().collect();
        sorted.sort_unstable();
        sorted
    }
}

/// The least that `percent` of all do not exceed.
fn rank(sorted: &[Duration], percent: usize) -> Option<Duration> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

fn milliseconds(took: Duration) -> Option<Amount> {
    let tenths_of_microseconds = (took.as_secs_f64() * 1e7).round();
    Amount::clamped(tenths_of_microseconds / 1e4)
}

#[cfg(test)]
mod tests {
    use super::{Latencies, Operation, WINDOW};
    use crate::contract::RuntimeClass;
    use std::time::Duration;

    #[test]
    fn half_and_nearly_all_are_told_by_operation() {
        let latencies = Latencies::default();
        for ms in 1..=100 {
            let took = Duration::from_millis(ms);
            latencies.record(Operation::Publish, took);
        }
        let start = Operation::Start(RuntimeClass::Function);
        latencies.record(start, Duration::from_micros(1500));
        let told = latencies.summary();
        let told: Vec<_> =
            told.iter().map(|(k, v)| (k.as_str(), v.get())).collect();
        assert_eq!(
            told,
            [
                ("publish_p50", 50.0),
                ("publish_p95", 95.0),
                ("start_function_p50", 1.5),
                ("start_function_p95", 1.5),
            ]
        );
    }

    #[test]
    fn what_was_slow_long_ago_is_forgotten() {
        let latencies = Latencies::default();
        latencies.record(Operation::Ack, Duration::from_secs(9));
        for _ in 0..WINDOW {
            latencies.record(Operation::Ack, Duration::from_millis(2));
        }
        assert_eq!(latencies.summary()["ack_p95"].get(), 2.0);
    }
}
