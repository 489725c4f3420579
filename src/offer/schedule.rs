use super::figures::{free_cores, free_memory, largest_free_gpu};
use super::{OfferFacts, Statement};
use crate::contract::{
    Availability, BootMs, Capability, HealthStatus, OfferKind, ReasonCode,
};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// A tenth of the whole is what a placement would be decided otherwise by;
/// less is the noise of a machine at work.
const TENTH: f64 = 0.1;

/// Readers take a thousand nodes at an offer each ten seconds; four a
/// second is what one of them may cost at its worst.
const PER_SECOND: usize = 4;

const SECOND_MS: u64 = 1000;

/// What of an offer makes it due when it changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Gist {
    /// Health.
    pub status: HealthStatus,
    /// Why, without the sentences, whose numbers change all the time.
    pub codes: Vec<ReasonCode>,
    /// What it can do.
    pub capabilities: Vec<Capability>,
    /// Slots.
    pub workers: BTreeMap<String, u64>,
    /// Of a runtime.
    pub availability: Option<Availability>,
    /// What is free.
    pub levels: Levels,
}

/// What is free of what there is; absent where it is not known or not
/// offered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Levels {
    /// Cores.
    pub cpu: Option<Level>,
    /// Memory.
    pub memory: Option<Level>,
    /// Memory of the largest free GPU.
    pub vram: Option<Level>,
}

/// Free and total, in one unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// What is free.
    pub free: f64,
    /// What there is.
    pub total: f64,
}

impl Gist {
    /// The gist of a statement, with the levels of its moment.
    pub fn of(statement: &Statement, levels: Levels) -> Self {
        let offer = &statement.offer;
        let capacity = offer.capacity.as_ref();
        let workers = capacity.and_then(|capacity| capacity.workers.clone());
        let availability = match &offer.kind {
            OfferKind::Runtime(detail) => Some(detail.availability),
            OfferKind::Node
            | OfferKind::Provider
            | OfferKind::Storage(_)
            | OfferKind::Delivery(_)
            | OfferKind::Agent(_)
            | OfferKind::Harness(_) => None,
        };
        Self {
            status: offer.health.status,
            codes: statement.reasons.iter().map(|r| r.code).collect(),
            capabilities: offer.capabilities.clone(),
            workers: workers.unwrap_or_default(),
            availability,
            levels: if capacity.is_some() { levels } else { Levels::default() },
        }
    }

    fn is_other(&self, said: &Self) -> bool {
        self.status != said.status
            || self.codes != said.codes
            || self.capabilities != said.capabilities
            || self.workers != said.workers
            || self.availability != said.availability
    }
}

impl Levels {
    /// The levels of a moment.
    pub fn of(facts: &OfferFacts<'_>) -> Self {
        if !facts.is_fresh() {
            return Self::default();
        }
        let level = |free: u64, total: u64| Level {
            free: free as f64,
            total: total as f64,
        };
        let (cpu, memory) = (&facts.snapshot.cpu, &facts.snapshot.memory);
        Self {
            cpu: free_cores(facts)
                .zip(cpu.as_ref())
                .map(|(free, there)| level(free.0, there.total.0)),
            memory: free_memory(facts)
                .zip(memory.as_ref())
                .map(|(free, there)| level(free.0, there.total.0)),
            vram: largest_free_gpu(facts)
                .map(|gpu| level(gpu.vram_free.0, gpu.vram_total.0)),
        }
    }

    fn moved(&self, said: &Self) -> bool {
        Level::moved(self.cpu, said.cpu)
            || Level::moved(self.memory, said.memory)
            || Level::moved(self.vram, said.vram)
    }
}

impl Level {
    fn moved(now: Option<Self>, said: Option<Self>) -> bool {
        match (now, said) {
            (Some(now), Some(said)) => {
                (now.free - said.free).abs() >= TENTH * now.total && now != said
            }
            (None, None) => false,
            // What could not be told before, or no longer can.
            (Some(_), None) | (None, Some(_)) => true,
        }
    }
}

/// What was last said under one offer id. All times here are of the clock
/// that goes on while the machine sleeps: readers have long dropped what was
/// said before, so after a sleep everything is due.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// When.
    pub at: BootMs,
    /// When at the latest it is said again.
    pub next: BootMs,
    /// What.
    pub gist: Gist,
}

impl Said {
    /// Said at `at`; again after the interval, a tenth sooner or later by
    /// `random` (0 to 1), so that nodes started together drift apart.
    pub fn new(
        at: BootMs,
        gist: Gist,
        interval: Duration,
        random: f64,
    ) -> Self {
        let share = 0.9 + 0.2 * random.clamp(0.0, 1.0);
        let wait = interval.mul_f64(share).as_millis();
        let wait = u64::try_from(wait).unwrap_or(u64::MAX);
        Self { at, next: BootMs(at.0.saturating_add(wait)), gist }
    }
}

/// When an offer is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    /// At once.
    Now,
    /// Not before then, if nothing changes.
    At(BootMs),
}

/// When the offer of `gist` is due after what was `said`: at once for
/// health, slots and capabilities; within a second where a level moved, and
/// not more than once a second for levels alone; else at the interval.
pub fn due(said: Option<&Said>, gist: &Gist, now: BootMs) -> When {
    let Some(said) = said else { return When::Now };
    if gist.is_other(&said.gist) {
        return When::Now;
    }
    let mut next = said.next;
    if gist.levels.moved(&said.gist.levels) {
        next = next.min(BootMs(said.at.0.saturating_add(SECOND_MS)));
    }
    if next <= now { When::Now } else { When::At(next) }
}

/// How many offers one node has said within the last second.
#[derive(Clone, Debug, Default)]
pub(super) struct Budget(VecDeque<BootMs>);

impl Budget {
    /// How many more may be said now.
    pub(super) fn spare(&mut self, now: BootMs) -> usize {
        let old = |at: &BootMs| at.0.saturating_add(SECOND_MS) <= now.0;
        while self.0.front().is_some_and(old) {
            self.0.pop_front();
        }
        PER_SECOND.saturating_sub(self.0.len())
    }

    pub(super) fn spend(&mut self, now: BootMs) {
        self.0.push_back(now);
    }

    /// When the next one may be said, where none may be now.
    pub(super) fn next(&self) -> Option<BootMs> {
        let first = self.0.front()?;
        Some(BootMs(first.0.saturating_add(SECOND_MS)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Gist, Level, Levels, Said, When, due};
    use crate::contract::{BootMs, HealthStatus, ReasonCode, RuntimeClass};
    use std::collections::BTreeMap;
    use std::time::Duration;

    const INTERVAL: Duration = Duration::from_secs(10);

    fn gist() -> Gist {
        let level = Some(Level { free: 50.0, total: 100.0 });
        Gist {
            status: HealthStatus::Up,
            codes: Vec::new(),
            capabilities: Vec::new(),
            workers: BTreeMap::from([("function".to_owned(), 2)]),
            availability: None,
            levels: Levels { cpu: level, memory: level, vram: None },
        }
    }

    fn said(random: f64) -> Said {
        Said::new(BootMs(1000), gist(), INTERVAL, random)
    }

    fn free(free: f64) -> Gist {
        let mut gist = gist();
        gist.levels.memory = Some(Level { free, total: 100.0 });
        gist
    }

    #[test]
    fn the_first_word_is_due_at_once() {
        assert_eq!(due(None, &gist(), BootMs(0)), When::Now);
    }

    #[test]
    fn without_a_change_it_is_due_at_the_interval_a_tenth_off_by_chance() {
        for (random, at) in [(0.0, 10_000), (0.5, 11_000), (1.0, 12_000)] {
            let said = Some(said(random));
            let told = |now| due(said.as_ref(), &gist(), BootMs(now));
            assert_eq!(told(1001), When::At(BootMs(at)));
            assert_eq!(told(at - 1), When::At(BootMs(at)));
            assert_eq!(told(at), When::Now);
        }
    }

    #[test]
    fn health_slots_capabilities_and_reasons_are_due_at_once() {
        let changes: [fn(&mut Gist); 4] = [
            |gist| gist.status = HealthStatus::Degraded,
            |gist| gist.codes.push(ReasonCode::EngineAway),
            |gist| {
                gist.capabilities.push(RuntimeClass::Function.capability());
            },
            |gist| {
                gist.workers.insert("function".to_owned(), 1);
            },
        ];
        for change in changes {
            let mut gist = gist();
            change(&mut gist);
            let told = due(Some(&said(0.5)), &gist, BootMs(1001));
            assert_eq!(told, When::Now);
        }
    }

    #[test]
    fn a_tenth_of_the_whole_is_due_within_a_second() {
        let soon = When::At(BootMs(2000));
        let later = When::At(BootMs(11_000));
        for (left, when) in [(40.0, soon), (60.0, soon), (41.0, later)] {
            let told = due(Some(&said(0.5)), &free(left), BootMs(1500));
            assert_eq!(told, when, "{left}");
        }
        let told = due(Some(&said(0.5)), &free(40.0), BootMs(2500));
        assert_eq!(told, When::Now);
    }

    #[test]
    fn a_level_that_comes_or_goes_is_a_level_that_moved() {
        let mut gist = gist();
        gist.levels.vram = Some(Level { free: 1.0, total: 9.0 });
        let told = due(Some(&said(0.5)), &gist, BootMs(1500));
        assert_eq!(told, When::At(BootMs(2000)));
    }

    #[test]
    fn after_a_sleep_of_hours_everything_is_due() {
        let told = due(Some(&said(0.5)), &gist(), BootMs(9_000_000));
        assert_eq!(told, When::Now);
    }
}
