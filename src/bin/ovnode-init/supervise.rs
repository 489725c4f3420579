//! From the orders to the exit record.
//!
//! One loop (in `run`) waits for whatever comes next. Nothing in it blocks,
//! and while nothing happens it sleeps until the next deadline.
use crate::await_orders::{Asked, await_orders};
use crate::cgroup::Cgroup;
use crate::clock::{self, Moment, millis};
use crate::cpu_watch::CpuWatch;
use crate::fault::Fault;
use crate::launch::Launch;
use crate::link::Link;
use crate::place::Place;
use crate::poll;
use crate::privilege;
use crate::record::Record;
use crate::run::{Run, Start};
use crate::sinks::Sinks;
use crate::verdict::{Counted, Verdict};
use ovnode::init::{Begun, EndedBy, FromInit, names};
use std::time::Duration;

/// How long a daemon that does not read may keep PID 1 from ending. What it
/// would hear is in the record.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Lives a sandbox's life.
pub(crate) fn run(place: &Place) -> Result<(), Fault> {
    privilege::lay_down().map_err(Fault::Privileges)?;
    place.reach.adopt_orphans()?;
    let record = Record::open(&place.record)?;
    let cgroup = Cgroup::at(place.cgroup.as_deref());
    let mut link = Link::to(&record.file(names::SOCKET), clock::mono());
    let asked = await_orders(&mut link)?;
    let begun = Moment::now();
    record.begin(&Begun {
        mono_ms: millis(begun.mono),
        boot_ms: millis(begun.boot),
    })?;
    let (verdict, counted) = match prepare(asked, &record, &cgroup, place) {
        Ok((launch, start)) => execute(launch, start, &record, &mut link)?,
        Err(verdict) => (verdict, Counted::default()),
    };
    record.exit(&verdict.record(&counted, &cgroup))?;
    link.say(&FromInit::Ended);
    last_words(&mut link)
}

/// From what was asked to a forked job, or to why there will be none.
fn prepare<'a>(
    asked: Asked,
    record: &Record,
    cgroup: &'a Cgroup,
    place: &Place,
) -> Result<(Launch, Start<'a>), Verdict> {
    let never = |by| move |reason| Verdict::cannot_start(reason, by);
    let orders = match asked {
        Asked::Run(orders) => *orders,
        Asked::Malformed(reason) => {
            return Err(never(EndedBy::Program)(reason));
        }
        Asked::Cancel => {
            let reason = "it was cancelled before it had orders".to_owned();
            return Err(never(EndedBy::Cancel)(reason));
        }
    };
    if clock::boot() >= Duration::from_millis(orders.ttl_boot_ms) {
        let reason = "its time to live was over before it could start";
        return Err(never(EndedBy::Ttl)(reason.to_owned()));
    }
    let sinks =
        Sinks::open(record, &orders).map_err(never(EndedBy::Program))?;
    let limit = Duration::from_millis(orders.cpu_ms);
    let cpu = CpuWatch::start(cgroup, limit);
    let launch = Launch::fork(&orders).map_err(never(EndedBy::Program))?;
    Ok((launch, Start { orders, sinks, cpu, cgroup, reach: place.reach }))
}

/// Sees a job through, and writes its result.
fn execute(
    launch: Launch,
    start: Start<'_>,
    record: &Record,
    link: &mut Link,
) -> Result<(Verdict, Counted), Fault> {
    let mut run = Run::of(launch, start)?;
    let verdict = run.see_through(link).inspect_err(|_| run.abandon())?;
    let result = run.sinks().result();
    record.result(result);
    let counted = Counted {
        cpu: run.cpu_used(),
        stdout_end: run.sinks().stdout_end(),
        result_bytes: result.len(),
    };
    Ok((verdict, counted))
}

/// Gives the daemon a moment to take what was said.
fn last_words(link: &mut Link) -> Result<(), Fault> {
    let until = clock::mono().saturating_add(LAST_WORDS);
    while link.is_busy() && clock::mono() < until {
        poll::wait(link.wish().as_slice(), Some(until))?;
        link.flush();
        // It is too late for orders, but they must not wake us again.
        drop(link.hear());
    }
    Ok(())
}
