use super::rules::{Rule, by_argument};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// A profile as the engine reads it.
#[derive(Serialize)]
struct Profile {
    #[serde(rename = "defaultAction")]
    default_action: &'static str,
    #[serde(rename = "archMap")]
    architectures: [Architecture; 2],
    syscalls: Vec<Rule>,
}

/// The engine takes the entry of its own machine. Without sub-architectures
/// a call through the 32-bit entry of the same kernel ends the process.
#[derive(Serialize)]
struct Architecture {
    architecture: &'static str,
    #[serde(rename = "subArchitectures")]
    sub_architectures: [&'static str; 0],
}

/// `syscalls.json`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    allowed: Vec<Group>,
    unknown: Group,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    comment: String,
    names: Vec<String>,
}

/// What a kernel answers that does not know a call.
const ENOSYS: u32 = 38;

static STRICT: LazyLock<String> = LazyLock::new(|| {
    let listed = serde_json::from_str(include_str!("syscalls.json"));
    // A test reads the file; were it bad, nothing at all would be allowed.
    let listed: Listed = listed.unwrap_or_default();
    serde_json::to_string(&profile(listed)).unwrap_or_default()
});

/// The profile of every class that does not say otherwise, as JSON.
pub fn seccomp_strict() -> &'static str {
    &STRICT
}

fn profile(listed: Listed) -> Profile {
    let always = listed.allowed.into_iter().map(|group| Rule {
        names: group.names,
        action: "SCMP_ACT_ALLOW",
        errno: None,
        args: Vec::new(),
        comment: group.comment,
    });
    let unknown = Rule {
        names: listed.unknown.names,
        action: "SCMP_ACT_ERRNO",
        errno: Some(ENOSYS),
        args: Vec::new(),
        comment: listed.unknown.comment,
    };
    Profile {
        default_action: "SCMP_ACT_ERRNO",
        architectures: ["SCMP_ARCH_X86_64", "SCMP_ARCH_AARCH64"].map(
            |architecture| Architecture { architecture, sub_architectures: [] },
        ),
        syscalls: always.chain([unknown]).chain(by_argument()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn strict() -> Value {
        serde_json::from_str(seccomp_strict()).unwrap()
    }

    fn names(action: &str) -> Vec<String> {
        let strict = strict();
        let rules = strict["syscalls"].as_array().unwrap().iter();
        rules
            .filter(|rule| rule["action"] == action)
            .flat_map(|rule| rule["names"].as_array().unwrap())
            .map(|name| name.as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn what_is_not_named_is_refused() {
        assert_eq!(strict()["defaultAction"], "SCMP_ACT_ERRNO");
        assert!(names("SCMP_ACT_ALLOW").len() > 200);
    }

    #[test]
    fn no_architecture_of_32_bits_is_named() {
        let strict = strict();
        for entry in strict["archMap"].as_array().unwrap() {
            assert_eq!(entry["subArchitectures"], serde_json::json!([]));
            let name = entry["architecture"].as_str().unwrap();
            assert!(name.ends_with("64"), "{name}");
        }
        assert_eq!(strict.get("architectures"), None);
    }

    const REACHES_OUT: &str = "
        mount umount2 pivot_root move_mount open_tree fsopen fsmount
        fsconfig fspick mount_setattr unshare setns chroot bpf
        perf_event_open userfaultfd keyctl add_key request_key reboot
        init_module finit_module kexec_load clone3 io_uring_setup
        fanotify_init name_to_handle_at open_by_handle_at
        process_vm_writev swapon syslog settimeofday clock_settime
        quotactl acct sethostname
    ";

    #[test]
    fn what_reaches_out_of_a_sandbox_is_not_named() {
        let allowed = names("SCMP_ACT_ALLOW");
        for name in REACHES_OUT.split_whitespace() {
            assert!(!allowed.iter().any(|other| other == name), "{name}");
        }
    }

    #[test]
    fn libraries_are_told_that_the_newest_calls_are_unknown() {
        assert_eq!(names("SCMP_ACT_ERRNO").len(), 4);
        assert!(seccomp_strict().contains("\"errnoRet\":38"));
    }

    #[test]
    fn no_call_is_listed_and_ruled_on_too() {
        // The engine's library takes the rule without arguments for all.
        let by_argument = by_argument();
        let ruled: Vec<_> =
            by_argument.iter().flat_map(|rule| &rule.names).collect();
        let strict = strict();
        for rule in strict["syscalls"].as_array().unwrap() {
            if rule["args"] == serde_json::json!([]) {
                for name in rule["names"].as_array().unwrap() {
                    let name = name.as_str().unwrap();
                    assert!(
                        !ruled.iter().any(|other| *other == name),
                        "{name}"
                    );
                }
            }
        }
    }
}
