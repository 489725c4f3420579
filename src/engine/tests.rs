use super::{
    Bind, EngineError, Inspection, LaunchSpec, SandboxId, Tmpfs, body,
    seccomp_strict, verify,
};
use crate::contract::{Bytes, MilliCores, NodeId, RuntimeClass};
use serde_json::json;

fn spec() -> LaunchSpec {
    let tmpfs = |inside: &str, exec| Tmpfs {
        inside: inside.to_owned(),
        size: Bytes::mib(64),
        inodes: 16_384,
        exec,
    };
    LaunchSpec {
        sandbox: SandboxId("sb_01JZ0000000000000000000000".to_owned()),
        node: NodeId::try_from("node_1".to_owned()).unwrap(),
        class: RuntimeClass::Function,
        image: "sha256:1234".to_owned(),
        init: "/usr/libexec/ovnode/ovnode-init".into(),
        record: "/var/lib/ovnode/records/sb_01".into(),
        binds: vec![Bind {
            host: "/srv/artifacts/echo".into(),
            inside: "/artifact".to_owned(),
        }],
        tmpfs: vec![tmpfs("/job", true), tmpfs("/tmp", false)],
        uid: 70_001,
        memory: Bytes::mib(256),
        shm: Bytes::mib(16),
        cpu: MilliCores(1500),
        pids: 128,
        seccomp: "{}".to_owned(),
    }
}

/// What an engine shows that does all it is asked.
fn shown(spec: &LaunchSpec) -> Inspection {
    Inspection {
        pid: None,
        running: false,
        exit_code: None,
        oom_killed: false,
        error: None,
        applied: spec.promises(),
    }
}

#[test]
fn an_engine_is_asked_for_exactly_this() {
    let asked = serde_json::to_value(body(&spec())).unwrap();
    insta::assert_json_snapshot!(asked);
}

#[test]
fn an_engine_promises_exactly_this() {
    insta::assert_snapshot!(spec().promises().join("\n"));
}

#[test]
fn a_sandbox_as_asked_is_taken() {
    verify(&spec(), &shown(&spec())).unwrap();
}

#[test]
fn a_limit_that_the_engine_left_out_is_named() {
    let mut shown = shown(&spec());
    for line in &mut shown.applied {
        if line.starts_with("memory_and_swap=") {
            "memory_and_swap=-1".clone_into(line);
        }
    }
    let said = verify(&spec(), &shown).unwrap_err().to_string();
    assert_eq!(
        said,
        "the sandbox is not what was asked for: asked for \
         `memory_and_swap=268435456`, and the engine shows \
         `memory_and_swap=-1`"
    );
}

#[test]
fn a_volume_that_nobody_asked_for_is_named() {
    let mut shown = shown(&spec());
    shown.applied.push("mount=/data volume /v rw ".to_owned());
    let fault = verify(&spec(), &shown);
    assert!(matches!(fault, Err(EngineError::NotAsAsked(said))
        if said.contains("mount=/data volume")));
}

#[test]
fn what_one_engine_says_in_other_words_is_the_same() {
    // Engine 29 prefixes capabilities; 20.10 does not.
    let shown = |text: serde_json::Value| {
        super::applied::applied(&serde_json::from_value(text).unwrap())
    };
    let plain = shown(json!({"HostConfig": {
        "CapAdd": ["SETUID", "KILL"], "SecurityOpt": ["no-new-privileges"]
    }}));
    let other = shown(json!({"HostConfig": {
        "CapAdd": ["CAP_KILL", "CAP_SETUID"],
        "SecurityOpt": ["no-new-privileges:true"],
        "RestartPolicy": {"Name": ""}, "Devices": null
    }}));
    assert_eq!(plain, other);
    assert!(plain.contains(&"cap_add=KILL,SETUID".to_owned()));
}

#[test]
fn an_inspection_without_a_single_field_is_not_as_asked() {
    let none = serde_json::from_value(json!({})).unwrap();
    let applied = super::applied::applied(&none);
    let shown = Inspection { applied, ..shown(&spec()) };
    assert!(verify(&spec(), &shown).is_err());
}

#[test]
fn the_strict_profile_stays_of_a_size_that_a_request_carries() {
    assert!(seccomp_strict().len() < 32 * 1024);
}
