use super::Secret;
use super::section::Section;
use crate::contract::{ArtifactRef, RuntimeClass};
use crate::job::{ArtifactPlan, ArtifactSource};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Set by the node for every job: an artifact cannot mean to lie about them.
const RESERVED: [&str; 3] = ["OPENVIBE_JOB_ID", "OV_JOB_ID", "OV_CLASS"];

/// Reads every `[[artifact]]`.
pub(super) fn read(
    sections: Vec<Section<'_>>,
    classes: &[RuntimeClass],
) -> Vec<ArtifactPlan> {
    let mut all: Vec<ArtifactPlan> = Vec::new();
    for mut section in sections {
        let Some(plan) = one(&mut section, classes) else {
            section.done();
            continue;
        };
        let same = |a: &ArtifactPlan| a.id == plan.id && a.class == plan.class;
        if all.iter().any(same) {
            let message = format!(
                "`{}` is declared twice for class {}",
                plan.id, plan.class
            );
            section.fault("name", message);
        }
        section.done();
        all.push(plan);
    }
    all
}

fn one(
    section: &mut Section<'_>,
    classes: &[RuntimeClass],
) -> Option<ArtifactPlan> {
    let id = id(section);
    let class = class(section, classes);
    let source = source(section);
    let command = command(section);
    let env = env(section);
    let stream_stderr = stream_stderr(section, class);
    Some(ArtifactPlan {
        id: id?,
        class: class?,
        source: source?,
        command: command?,
        env,
        stream_stderr,
    })
}

fn id(section: &mut Section<'_>) -> Option<ArtifactRef> {
    let name = section.need::<String>("name");
    let version = section.need::<String>("version");
    let (name, version) = (name?, version?);
    match ArtifactRef::new(name.clone(), version) {
        Ok(id) => Some(id),
        Err(bad) => {
            let key = if bad.raw == name { "name" } else { "version" };
            section.fault(key, bad.to_string());
            None
        }
    }
}

fn class(
    section: &mut Section<'_>,
    classes: &[RuntimeClass],
) -> Option<RuntimeClass> {
    let name = section.need::<String>("class")?;
    let class = RuntimeClass::from_name(&name);
    match class {
        None => {
            let all = RuntimeClass::WORDS.join(", ");
            let message = format!("`{name}` is no class (there are {all})");
            section.fault("class", message);
        }
        Some(class) if !classes.contains(&class) => {
            let message = format!(
                "`{class}` is not configured here: add `[class.{class}]`"
            );
            section.fault("class", message);
        }
        Some(_) => {}
    }
    class
}

fn source(section: &mut Section<'_>) -> Option<ArtifactSource> {
    let image = section.opt("image").map(ArtifactSource::Image);
    let dir = section.opt::<PathBuf>("dir").map(ArtifactSource::Directory);
    match (image, dir) {
        (Some(_), Some(_)) => {
            section.fault("dir", "and `image` exclude each other");
            None
        }
        (None, None) => {
            // A bad value of either was told already.
            if !section.has("image") && !section.has("dir") {
                section.fault("image", "or `dir` must say what it is");
            }
            None
        }
        (image, dir) => image.or(dir),
    }
}

fn command(section: &mut Section<'_>) -> Option<Vec<String>> {
    let command = section.need::<Vec<String>>("command")?;
    if command.is_empty() {
        section.fault("command", "must name a program");
    }
    if command.iter().any(|word| word.contains('\0')) {
        section.fault("command", "must not hold NUL");
    }
    Some(command)
}

fn env(section: &mut Section<'_>) -> BTreeMap<String, String> {
    let env: BTreeMap<String, Secret> = section.opt("env").unwrap_or_default();
    for (name, value) in &env {
        if RESERVED.contains(&name.as_str()) {
            let message = format!("`{name}` is the node's own to set");
            section.fault("env", message);
        } else if name.is_empty()
            || name.contains(['=', '\0'])
            || value.reveal().contains('\0')
        {
            let message = format!("`{name}` cannot stand in an environment");
            section.fault("env", message);
        }
    }
    let plain =
        |(name, value): (String, Secret)| (name, value.reveal().to_owned());
    env.into_iter().map(plain).collect()
}

/// A function's stderr is its owner's unless the artifact streams it; every
/// other class has one stream.
fn stream_stderr(
    section: &mut Section<'_>,
    class: Option<RuntimeClass>,
) -> bool {
    let function = class == Some(RuntimeClass::Function);
    let default = if function { "owner" } else { "stream" };
    let words = ["owner", "stream"];
    let read = |word: &str| words.contains(&word).then_some(word == "stream");
    let stream = section.word("stderr", (&words, read), default);
    if stream == Some(false) && !function {
        let message = "can be \"owner\" for class function only";
        section.fault("stderr", message);
    }
    stream.unwrap_or(!function)
}
