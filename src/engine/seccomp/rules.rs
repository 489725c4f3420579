use serde::Serialize;

/// One rule of a profile: the calls it names, when its argument is so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Rule {
    pub(super) names: Vec<String>,
    pub(super) action: &'static str,
    #[serde(rename = "errnoRet", skip_serializing_if = "Option::is_none")]
    pub(super) errno: Option<u32>,
    pub(super) args: Vec<Arg>,
    pub(super) comment: String,
}

/// `argument & value == value_two`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Arg {
    index: u32,
    value: u64,
    #[serde(rename = "valueTwo")]
    value_two: u64,
    op: &'static str,
}

const LOW_32: u64 = 0xffff_ffff;

impl Arg {
    fn masked(index: u32, mask: u64, equals: u64) -> Self {
        let op = "SCMP_CMP_MASKED_EQ";
        Self { index, value: mask, value_two: equals, op }
    }

    fn is(index: u32, equals: u64) -> Self {
        Self::masked(index, LOW_32, equals)
    }

    #[cfg(test)]
    pub(super) fn holds(&self, args: [u64; 6]) -> bool {
        args[self.index as usize] & self.value == self.value_two
    }
}

impl Rule {
    fn allow(name: &str, args: Vec<Arg>, comment: &str) -> Self {
        Self {
            names: vec![name.to_owned()],
            action: "SCMP_ACT_ALLOW",
            errno: None,
            args,
            comment: comment.to_owned(),
        }
    }
}

/// Every rule that looks at an argument. Rules of one call add up: it is
/// allowed when any of them holds.
pub(super) fn by_argument() -> Vec<Rule> {
    [clone(), sockets(), personality(), ioctl(), core_limit()].concat()
}

/// CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID and NET.
const NAMESPACES: u64 = 0x7e02_0000;

fn clone() -> Vec<Rule> {
    let args = vec![Arg::masked(0, NAMESPACES, 0)];
    vec![Rule::allow("clone", args, "Without a new namespace of any kind.")]
}

/// Families with a long record of faults (vsock, packet, alg, tipc, can …)
/// stay shut, whatever the network policy.
fn sockets() -> Vec<Rule> {
    const FAMILIES: [(u64, &str); 4] = [
        (1, "AF_UNIX."),
        (2, "AF_INET."),
        (10, "AF_INET6."),
        (16, "AF_NETLINK: what lists interfaces."),
    ];
    let sockets = FAMILIES.map(|(family, why)| {
        Rule::allow("socket", vec![Arg::is(0, family)], why)
    });
    let pair = Rule::allow("socketpair", vec![Arg::is(0, 1)], "AF_UNIX.");
    sockets.into_iter().chain([pair]).collect()
}

fn personality() -> Vec<Rule> {
    [(0, "PER_LINUX, the one it has."), (LOW_32, "To ask which it has.")]
        .map(|(persona, why)| {
            Rule::allow("personality", vec![Arg::is(0, persona)], why)
        })
        .to_vec()
}

/// Sets a file's project, and with it whose quota its blocks count on.
const FS_IOC_FSSETXATTR: u64 = 0x401c_5820;

/// There is no "not equal" of some bits only. But a number differs from
/// another exactly if one of its bits does, and rules add up: one a bit.
fn ioctl() -> Vec<Rule> {
    (0..32_u32)
        .map(|bit| {
            let mask = 1_u64 << bit;
            let other = !FS_IOC_FSSETXATTR & mask;
            let why = format!("Not FS_IOC_FSSETXATTR: bit {bit} differs.");
            Rule::allow("ioctl", vec![Arg::masked(1, mask, other)], &why)
        })
        .collect()
}

const RLIMIT_CORE: u64 = 4;
const RLIMITS: u64 = 16;

/// The engine sets the core limit to 1, which alone keeps a crash from being
/// piped to a collector of the host's. Lowering it to 0 would undo that.
fn core_limit() -> Vec<Rule> {
    let others = (0..RLIMITS).filter(|limit| *limit != RLIMIT_CORE);
    let set = others.flat_map(|limit| {
        let why = format!("RLIMIT {limit}: all may be lowered but CORE.");
        [
            Rule::allow("setrlimit", vec![Arg::is(0, limit)], &why),
            Rule::allow("prlimit64", vec![Arg::is(1, limit)], &why),
        ]
    });
    // The third argument is a pointer: here all 64 bits count.
    let reads = vec![Arg::is(1, RLIMIT_CORE), Arg::masked(2, u64::MAX, 0)];
    let read = Rule::allow("prlimit64", reads, "To read RLIMIT_CORE.");
    set.chain([read]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(name: &str, args: [u64; 6]) -> bool {
        let mut rules = by_argument();
        rules.retain(|rule| rule.names == [name]);
        assert!(!rules.is_empty());
        rules.iter().any(|rule| rule.args.iter().all(|arg| arg.holds(args)))
    }

    const HIGH: u64 = 1 << 32;

    #[test]
    fn no_bit_above_the_kernels_32_opens_what_is_shut() {
        for high in [0, HIGH, u64::MAX << 32] {
            let ioctl = [3, FS_IOC_FSSETXATTR | high, 0, 0, 0, 0];
            assert!(!allowed("ioctl", ioctl));
            let core = [RLIMIT_CORE | high, 0, 0, 0, 0, 0];
            assert!(!allowed("setrlimit", core));
            let core = [0, RLIMIT_CORE | high, 0x7fff, 0, 0, 0];
            assert!(!allowed("prlimit64", core));
            assert!(!allowed("socket", [40 | high, 1, 0, 0, 0, 0]));
            assert!(!allowed("clone", [0x1000_0000 | high, 0, 0, 0, 0, 0]));
        }
    }

    #[test]
    fn any_other_ioctl_is_allowed() {
        for bit in 0..32 {
            let number = FS_IOC_FSSETXATTR ^ (1 << bit);
            assert!(allowed("ioctl", [0, number, 0, 0, 0, 0]));
        }
        assert!(allowed("ioctl", [0, 0x5401, 0, 0, 0, 0]));
    }

    #[test]
    fn the_core_limit_may_be_read() {
        assert!(allowed("prlimit64", [0, RLIMIT_CORE, 0, 0x7fff, 0, 0]));
        assert!(allowed("prlimit64", [0, 7, 0x7fff, 0, 0, 0]));
        assert!(allowed("setrlimit", [7, 0x7fff, 0, 0, 0, 0]));
    }

    #[test]
    fn threads_start_and_namespaces_do_not() {
        // What pthread_create asks for.
        assert!(allowed("clone", [0x003d_0f00, 0, 0, 0, 0, 0]));
        for namespace in [0x0002_0000, 0x0200_0000, 0x4000_0000_u64] {
            assert!(!allowed("clone", [namespace | 17, 0, 0, 0, 0, 0]));
        }
    }

    #[test]
    fn sockets_of_four_families_open_and_pairs_of_one() {
        for family in 0..46 {
            let args = [family, 1, 0, 0, 0, 0];
            assert_eq!(
                allowed("socket", args),
                [1, 2, 10, 16].contains(&family)
            );
            assert_eq!(allowed("socketpair", args), family == 1);
        }
    }
}
