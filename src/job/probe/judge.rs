use super::facts::Facts;
use crate::contract::{RuntimeClass, Timestamp};
use crate::engine::{LaunchSpec, Tmpfs};
use crate::init::Orders;

/// The result of one probe: every promise, kept or not.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeReport {
    /// Of which class.
    pub class: RuntimeClass,
    /// When.
    pub at: Timestamp,
    /// What was promised, in the order of trying.
    pub promises: Vec<Promise>,
}

/// One promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Promise {
    /// What is promised, as a sentence.
    pub what: String,
    /// What was found instead; `None` where it is kept.
    pub broken: Option<String>,
}

impl ProbeReport {
    /// Whether every promise is kept.
    pub fn passed(&self) -> bool {
        self.promises.iter().all(|promise| promise.broken.is_none())
    }

    /// The promises that are not kept, as one sentence; `None` if all are.
    pub fn complaint(&self) -> Option<String> {
        let broken = self.promises.iter().filter_map(|p| {
            p.broken.as_ref().map(|found| format!("{}: {found}", p.what))
        });
        let all: Vec<_> = broken.collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// What the sandbox was asked to be.
pub(super) struct Asked<'a> {
    pub(super) spec: &'a LaunchSpec,
    pub(super) orders: &'a Orders,
}

/// Judges what the script reported from inside.
pub(super) fn judge(asked: &Asked<'_>, facts: &Facts) -> Vec<Promise> {
    let mut promises = vec![
        promise("the probe runs to its end", equals(facts, "done", "yes")),
        promise("args come as a line of JSON on stdin", {
            equals(facts, "stdin", asked.orders.stdin.trim_end())
        }),
        promise("the job has a user of its own", user(asked, facts)),
        promise("no capability is in any set", no_capability(facts)),
        promise("privileges cannot be gained", {
            says(facts, "status", "NoNewPrivs:1")
        }),
        promise("system calls are filtered", {
            says(facts, "status", "Seccomp:2")
        }),
        promise("the root is read-only", none(facts, "writable")),
        promise("nothing of the daemon is in reach", none(facts, "reachable")),
        promise("no way out of the sandbox is open", none(facts, "allowed")),
        promise("there is no network", no_network(facts)),
        promise("only its own processes are seen", processes(facts)),
        promise("no file is inherited", descriptors(facts)),
        promise("it is the first to die for want of memory", {
            equals(facts, "oom_score_adj", "1000")
        }),
        promise("its environment is what was promised", env(asked, facts)),
        promise("it works in /job", equals(facts, "cwd", "/job")),
        promise("results can be written to fd 3", {
            equals(facts, "fd3", "written")
        }),
    ];
    promises.extend(limits(asked, facts));
    promises.extend(asked.spec.tmpfs.iter().map(|at| tmpfs(at, facts)));
    promises.extend(cgroup(asked, facts));
    promises
}

pub(super) fn promise(
    what: impl Into<String>,
    kept: Result<(), String>,
) -> Promise {
    Promise { what: what.into(), broken: kept.err() }
}

fn equals(facts: &Facts, key: &str, wanted: &str) -> Result<(), String> {
    let found = facts.one(key)?;
    same(found, wanted)
}

fn same(found: &str, wanted: &str) -> Result<(), String> {
    if found == wanted {
        return Ok(());
    }
    Err(format!("wanted `{wanted}`, found `{found}`"))
}

fn says(facts: &Facts, key: &str, wanted: &str) -> Result<(), String> {
    let said = facts.all(key);
    if said.iter().any(|value| value == wanted) {
        return Ok(());
    }
    Err(format!("wanted `{wanted}`, found `{}`", said.join(" ")))
}

fn none(facts: &Facts, key: &str) -> Result<(), String> {
    match facts.all(key) {
        [] => Ok(()),
        found => Err(found.join(", ")),
    }
}

fn user(asked: &Asked<'_>, facts: &Facts) -> Result<(), String> {
    let uid = asked.orders.uid.to_string();
    equals(facts, "uid", &uid)?;
    equals(facts, "groups", &uid)?;
    equals(facts, "user", "job")
}

fn no_capability(facts: &Facts) -> Result<(), String> {
    let sets = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];
    for set in sets {
        let empty = format!("{set}:{:016x}", 0);
        says(facts, "status", &empty)?;
    }
    Ok(())
}

fn no_network(facts: &Facts) -> Result<(), String> {
    match facts.all("interface") {
        [lo] if lo == "lo" => Ok(()),
        found => Err(format!("interfaces are {}", found.join(", "))),
    }
}

fn processes(facts: &Facts) -> Result<(), String> {
    equals(facts, "pid1", "ovnode-init")?;
    // PID 1, the script, and at most a pipeline of it.
    const MOST: u32 = 8;
    let said = facts.one("processes")?.trim();
    let few = said.parse::<u32>().is_ok_and(|n| n <= MOST);
    if few { Ok(()) } else { Err(format!("{said} are seen")) }
}

fn descriptors(facts: &Facts) -> Result<(), String> {
    // 10 and above 255 are where shells keep the script they read.
    let known = ["0", "1", "2", "3", "10", "255"];
    let strange = facts.all("fd").iter().filter(|fd| !known.contains(&&***fd));
    let strange: Vec<_> = strange.map(String::as_str).collect();
    if strange.is_empty() { Ok(()) } else { Err(strange.join(", ")) }
}

fn env(asked: &Asked<'_>, facts: &Facts) -> Result<(), String> {
    let promised = asked.orders.env.iter();
    let promised: Vec<_> =
        promised.map(|(name, value)| format!("{name}={value}")).collect();
    let found = facts.all("env");
    if let Some(missing) = promised.iter().find(|line| !found.contains(line)) {
        return Err(format!("`{missing}` is missing"));
    }
    match found.iter().find(|line| !promised.contains(line)) {
        None => Ok(()),
        // Its value may be a secret of this machine's: only its name is told.
        Some(line) => {
            let name = line.split('=').next().unwrap_or_default();
            Err(format!("`{name}` was inherited"))
        }
    }
}

fn limits(asked: &Asked<'_>, facts: &Facts) -> [Promise; 3] {
    let orders = asked.orders;
    let limit = |name: &str, wanted: u64| {
        let found = facts.named("limit", name).unwrap_or("nothing");
        let hard = found.split(' ').nth(1).unwrap_or(found);
        let what = format!("{name} are limited to {wanted}");
        promise(what, same(hard, &wanted.to_string()))
    };
    [
        limit("Max open files", orders.open_files),
        limit("Max file size", orders.file_bytes),
        // One byte, unlike none, also keeps the kernel from starting the
        // host's own handler of crashes for a job.
        limit("Max core file size", 1),
    ]
}

fn tmpfs(wanted: &Tmpfs, facts: &Facts) -> Promise {
    let what = format!("{} has {} of memory", wanted.inside, wanted.size);
    let found = facts.named("filesystem", &wanted.inside);
    let kept = match found.map(|f| f.split(' ').collect::<Vec<_>>()) {
        Some(parts) => match parts[..] {
            [kind, block, blocks] => {
                let bytes = product(block, blocks);
                // A size is rounded up to whole pages.
                let page = 4096;
                let most = wanted.size.0.next_multiple_of(page);
                if kind == "tmpfs" && bytes.is_some_and(|n| n <= most) {
                    runs(wanted, facts)
                } else {
                    Err(format!("it is {kind}, {block} times {blocks} bytes"))
                }
            }
            _ => Err("the probe could not tell its size".to_owned()),
        },
        // Cover over an image's volumes: the inspection showed it.
        None if !matches!(&*wanted.inside, "/job" | "/tmp") => Ok(()),
        None => Err("the probe did not find it".to_owned()),
    };
    promise(what, kept)
}

fn runs(wanted: &Tmpfs, facts: &Facts) -> Result<(), String> {
    match facts.named("runs", &wanted.inside) {
        Some("7") => Ok(()),
        Some(code) if wanted.exec => {
            Err(format!("a script in it ended with {code}"))
        }
        Some(_) | None => Ok(()),
    }
}

fn product(a: &str, b: &str) -> Option<u64> {
    a.parse::<u64>().ok()?.checked_mul(b.parse().ok()?)
}

/// The kernel's own limits, seen from inside; v1 and v2 name them apart.
fn cgroup(asked: &Asked<'_>, facts: &Facts) -> [Promise; 3] {
    let file = |names: [&str; 2]| {
        let found = names.iter().find_map(|name| facts.named("cgroup", name));
        found.ok_or_else(|| "the kernel shows no such limit".to_owned())
    };
    let memory = asked.spec.memory.0;
    let pids = asked.spec.pids.to_string();
    let limit = file(["memory/memory.limit_in_bytes", "memory.max"]);
    // v1 counts swap on top of memory, v2 apart. A kernel that accounts for
    // no swap shows neither, and then there is none to limit.
    let swap = match facts.named("cgroup", "memory.swap.max") {
        Some(v2) => same(v2, "0"),
        None => {
            let v1 = "memory/memory.memsw.limit_in_bytes";
            let v1 = facts.named("cgroup", v1);
            v1.map_or(Ok(()), |found| same(found, &memory.to_string()))
        }
    };
    [
        promise(
            format!("memory is limited to {memory} bytes"),
            limit.and_then(|found| same(found, &memory.to_string())),
        ),
        promise("there is no swap", swap),
        promise(
            format!("processes are limited to {pids}"),
            file(["pids/pids.max", "pids.max"])
                .and_then(|found| same(found, &pids)),
        ),
    ]
}
