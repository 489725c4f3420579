use super::check::Check;
use crate::contract::RuntimeClass;
use crate::engine::{Engine, EngineError, EngineInfo, ImageFacts};
use crate::job::{ArtifactPlan, ArtifactSource, ClassPlan};
use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

/// What starts an engine where systemd does not.
const START_ENGINE: &str = "systemctl start docker";

/// Asks the engine for itself, and for the images of classes and artifacts.
pub(super) async fn look(
    engine: &impl Engine,
    classes: &BTreeMap<RuntimeClass, ClassPlan>,
    artifacts: &[ArtifactPlan],
) -> Vec<Check> {
    let info = engine.info().await;
    let mut checks = judge(&info);
    if info.is_err() {
        // Each image would only say the same again.
        return checks;
    }
    for (class, plan) in classes {
        let facts = engine.image(&plan.image).await;
        checks.push(judge_image(*class, &plan.image, &facts));
    }
    for artifact in artifacts {
        checks.push(match &artifact.source {
            ArtifactSource::Directory(dir) => judge_dir(artifact, dir),
            ArtifactSource::Image(image) => {
                judge_own(artifact, image, &engine.image(image).await)
            }
        });
    }
    if classes.is_empty() {
        let text = "none is configured: this node would run no job";
        checks.push(Check::warning("classes", text));
    }
    checks
}

fn judge(info: &Result<EngineInfo, EngineError>) -> Vec<Check> {
    match info {
        Err(why @ EngineError::Away { .. }) => {
            let fault = Check::fault("engine", chain(why));
            let denied = chain(why).contains("ermission denied");
            let mend = if denied { "sudo ovnode doctor" } else { START_ENGINE };
            vec![fault.fix(mend)]
        }
        Err(why) => vec![Check::fault("engine", chain(why))],
        Ok(info) => vec![version(info), isolation(info)],
    }
}

/// One too old was refused when the API's version was agreed on.
fn version(info: &EngineInfo) -> Check {
    let EngineInfo { version, api, cgroup_driver, .. } = info;
    let text = format!("version {version}, API {api}, {cgroup_driver}");
    Check::ok("engine", text)
}

/// Modes in which an engine maps users: records and limits are the host's
/// own, and would not fit.
fn isolation(info: &EngineInfo) -> Check {
    let has = |mode: &str| {
        let mode = format!("name={mode}");
        info.security.iter().any(|it| it.split(',').any(|p| p == mode))
    };
    for (mode, name) in [("userns", "userns-remap"), ("rootless", "rootless")] {
        if has(mode) {
            let text = format!("{name} engines are not supported yet");
            return Check::fault("engine mode", text);
        }
    }
    if !has("seccomp") {
        let text = "this kernel or engine has no seccomp: no class would \
                    pass its probe";
        return Check::fault("engine mode", text);
    }
    Check::ok("engine mode", "rootful, seccomp")
}

fn judge_image(
    class: RuntimeClass,
    image: &str,
    facts: &Result<Option<ImageFacts>, EngineError>,
) -> Check {
    let name = format!("image {class}");
    match facts {
        Ok(Some(_)) => Check::ok(&name, format!("`{image}` is there")),
        Ok(None) => Check::fault(&name, format!("`{image}` is not there"))
            .fix(format!("ovnode images build {class}")),
        Err(why) => Check::fault(&name, chain(why)),
    }
}

fn judge_dir(artifact: &ArtifactPlan, dir: &Path) -> Check {
    let name = format!("artifact {}", artifact.id);
    let shown = dir.display();
    if dir.is_dir() {
        Check::ok(&name, format!("`{shown}` is there"))
    } else {
        Check::fault(&name, format!("`{shown}` is not a directory"))
    }
}

fn judge_own(
    artifact: &ArtifactPlan,
    image: &str,
    facts: &Result<Option<ImageFacts>, EngineError>,
) -> Check {
    let name = format!("artifact {}", artifact.id);
    match facts {
        Ok(Some(_)) => Check::ok(&name, format!("`{image}` is there")),
        Ok(None) => Check::fault(&name, format!("`{image}` is not there"))
            .fix(format!("docker pull {image}")),
        Err(why) => Check::fault(&name, chain(why)),
    }
}

/// An error and its causes in one line.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::check::Check;

    fn info(api: &str, security: &[&str]) -> EngineInfo {
        EngineInfo {
            version: "20.10.24".to_owned(),
            api: api.to_owned(),
            cgroup_version: 1,
            cgroup_driver: "cgroupfs".to_owned(),
            data_root: "/var/lib/docker".into(),
            security: security.iter().map(ToString::to_string).collect(),
        }
    }

    fn lines(checks: &[Check]) -> String {
        let line =
            |it: &Check| format!("{:?} {}: {}\n", it.outcome, it.name, it.text);
        checks.iter().map(line).collect()
    }

    #[test]
    fn an_engine_is_well_only_where_jobs_can_be_kept_apart() {
        let seccomp = "name=seccomp,profile=default";
        let away = EngineError::Away {
            socket: "/var/run/docker.sock".to_owned(),
            doing: "asking what it is",
            source: None,
        };
        let all: String = [
            Ok(info("1.41", &[seccomp])),
            Ok(info("1.53", &[seccomp, "name=userns"])),
            Ok(info("1.53", &["name=rootless", seccomp])),
            Ok(info("1.53", &[])),
            Err(away),
        ]
        .iter()
        .map(|seen| lines(&judge(seen)))
        .collect();
        insta::assert_snapshot!(all);
    }

    #[test]
    fn a_missing_image_names_the_command_that_builds_it() {
        let check = judge_image(RuntimeClass::Function, "i:1", &Ok(None));
        let fix = "ovnode images build function";
        assert_eq!(check.fix.as_deref(), Some(fix));
    }
}
