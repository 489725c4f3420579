//! What PID 1 lays down before it does anything, and what stage two insists
//! on before it becomes the job.
use rustix::fs::Mode;
use rustix::process::{DumpableBehavior, set_dumpable_behavior, umask};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set,
    clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities, set_no_new_privs,
};
use std::io;

/// Changing to the job's user, and signalling its processes: nothing else is
/// needed after the bounding set is empty.
const KEPT: CapabilitySet = CapabilitySet::SETUID
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::KILL);

/// Lays down what PID 1 does not need, for itself and all that come after.
pub(crate) fn lay_down() -> io::Result<()> {
    umask(Mode::RWXG | Mode::RWXO);
    set_no_new_privs(true)?;
    empty_bounding_set()?;
    clear_ambient_capability_set()?;
    let held = capabilities(None)?.permitted & KEPT;
    set_capabilities(
        None,
        CapabilitySets {
            effective: held,
            permitted: held,
            inheritable: CapabilitySet::empty(),
        },
    )?;
    // Last, since a change of capabilities may reset it.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(())
}

/// Drops every capability that this kernel knows, named here or not.
fn empty_bounding_set() -> io::Result<()> {
    for bit in 0..u64::BITS {
        let one = CapabilitySet::from_bits_retain(1 << bit);
        match capability_is_in_bounding_set(one) {
            Ok(true) => remove_capability_from_bounding_set(one)?,
            Ok(false) => {}
            Err(rustix::io::Errno::INVAL) => break,
            Err(err) => return Err(err.into()),
        }
    }
    Ok(())
}

/// Whether a process that the kernel describes so (`/proc/self/status`) has
/// nothing left; else what it has.
///
/// Every line must be there: what cannot be seen is not proven.
pub(crate) fn prove_none(status: &str) -> Result<(), String> {
    let words = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.map(|rest| rest.split_ascii_whitespace().collect::<Vec<_>>())
            .ok_or_else(|| format!("the kernel does not tell `{name}`"))
    };
    for name in ["Uid:", "Gid:"] {
        let ids = words(name)?;
        if ids.is_empty() || ids.contains(&"0") {
            return Err(format!("it still has {name} {}", ids.join(" ")));
        }
    }
    let groups = words("Groups:")?;
    if !groups.is_empty() {
        return Err(format!("it has further groups: {}", groups.join(" ")));
    }
    for name in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        let set = words(name)?.concat();
        if set.is_empty() || set.bytes().any(|digit| digit != b'0') {
            return Err(format!("it still has {name} {set}"));
        }
    }
    match words("NoNewPrivs:")?.as_slice() {
        ["1"] => Ok(()),
        _ => Err("it could gain privileges by executing".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: &str = "Name:\tx\n\
        Uid:\t200000\t200000\t200000\t200000\n\
        Gid:\t200000\t200000\t200000\t200000\n\
        Groups:\t \n\
        CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n\
        CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\n\
        CapAmb:\t0000000000000000\nNoNewPrivs:\t1\n";

    #[test]
    fn a_process_with_nothing_passes() {
        assert_eq!(prove_none(BARE), Ok(()));
    }

    #[test]
    fn every_privilege_left_is_refused() {
        for (had, has) in [
            ("Uid:\t200000\t200000", "Uid:\t200000\t0"),
            ("Gid:\t200000", "Gid:\t0"),
            ("Groups:\t ", "Groups:\t5 "),
            ("CapInh:\t00", "CapInh:\t01"),
            ("CapPrm:\t00", "CapPrm:\t80"),
            ("CapEff:\t00", "CapEff:\t80"),
            ("CapBnd:\t0", "CapBnd:\tf"),
            ("CapAmb:\t0", "CapAmb:\t1"),
            ("NoNewPrivs:\t1", "NoNewPrivs:\t0"),
            ("NoNewPrivs:\t1", ""),
            ("CapAmb:", "Cap:"),
        ] {
            let status = BARE.replacen(had, has, 1);
            assert_ne!(status, BARE);
            assert!(prove_none(&status).is_err(), "{has}");
        }
    }
}
