use super::{Config, ConfigError, NatsAuth, Secrets, Sources};
use crate::contract::{Bytes, MilliCores, RuntimeClass, Trust};
use crate::job::ArtifactSource;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

const EXAMPLE: &str = include_str!("../../../docs/node.example.toml");

const MANIFEST: &str = r#"
class = "function"
image = "ovnode/function:1"
cpu_cores = 0.5
memory = "128MiB"
[caps]
wall = "2m"
"#;

/// A configuration on disk beside one manifest, and a few variables.
struct Setting {
    dir: TempDir,
    vars: Vec<(String, String)>,
}

impl Setting {
    fn new(toml: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("function")).unwrap();
        let manifest = dir.path().join("function/class.toml");
        fs::write(manifest, MANIFEST).unwrap();
        fs::write(dir.path().join("node.toml"), toml).unwrap();
        let workers = dir.path().display().to_string();
        Self { dir, vars: Vec::new() }.var("OVNODE_WORKERS__DIR", &workers)
    }

    fn var(mut self, name: &str, value: &str) -> Self {
        self.vars.push((name.to_owned(), value.to_owned()));
        self
    }

    fn sources(&self) -> Sources {
        let file = Some(self.dir.path().join("node.toml"));
        Sources { file, vars: self.vars.clone() }
    }

    fn config(&self) -> Config {
        Config::load(&self.sources()).unwrap()
    }

    /// Each fault, without the folder that differs from run to run.
    fn faults(&self) -> Vec<String> {
        let Err(ConfigError::Faults(faults)) = Config::load(&self.sources())
        else {
            panic!("the configuration is well")
        };
        let here = format!("{}/", self.dir.path().display());
        faults.iter().map(|it| it.to_string().replace(&here, "")).collect()
    }
}

/// The one fault of one line.
fn fault(toml: &str) -> String {
    let faults = Setting::new(toml).faults();
    assert_eq!(faults.len(), 1, "{faults:#?}");
    faults.into_iter().next().unwrap()
}

#[test]
fn nothing_at_all_is_a_whole_configuration() {
    let config = Setting::new("").config();
    assert_eq!(config.node.trust, Trust::UserOwned);
    assert_eq!(config.nats.auth, NatsAuth::Anonymous);
    assert_eq!(config.intervals.offer, Duration::from_secs(10));
    assert!(config.classes.is_empty());
    let plan = config.job_plan();
    assert_eq!(plan.records, PathBuf::from("/var/lib/ovnode/records"));
}

#[test]
fn the_example_is_well_and_says_the_defaults() {
    let config = Setting::new(EXAMPLE).config();
    assert_eq!(config.classes[&RuntimeClass::Function].slots, 2);
    let bare = Setting::new("[class.function]\nslots = 2").config();
    assert_eq!(config.job_plan(), bare.job_plan());
    assert_eq!(config.nats, bare.nats);
}

#[test]
fn every_commented_line_of_the_example_is_a_key_that_exists() {
    let exclusive = ["creds", "nkey_seed", "token"];
    let lines = EXAMPLE.lines().map(|line| match line.strip_prefix('#') {
        Some(key)
            if key.starts_with(['[', 'a', 'b', 'c', 'd'])
                || key.contains(" = ") =>
        {
            key
        }
        _ => line,
    });
    let uncommented: Vec<&str> = lines
        .filter(|l| !exclusive.iter().any(|k| l.starts_with(k)))
        .map(|l| if l.starts_with(' ') { "" } else { l })
        .collect();
    let config = Setting::new(&uncommented.join("\n")).config();
    assert_eq!(config.artifacts.len(), 1);
    assert_eq!(config.node.worker_kinds["ffmpeg"], 2);
}

#[test]
fn all_faults_are_said_at_once_with_line_and_key() {
    let faults = Setting::new(
        r#"
[node]
trsut = "partner"
region = "eu west"
capabilities = ["worker:gpu", "node:http", "node:http"]
[nats]
servers = ["nats://me:hunter2@a", "http://b"]
user = "me"
[intervals]
sample = 5
offer = "10 parsecs"
[class.function]
slots = 0
memory = "32MiB"
[class.functoin]
[jobs]
net = "public"
[[artifact]]
name = "Thumb"
class = "linux"
image = "a"
dir = "/b"
[color]
"#,
    )
    .var("OVNODE_GPU__ENABLED", "maybe")
    .var("OVNODE_NATS_SERVERS", "nats://a")
    .faults();
    insta::assert_snapshot!(faults.join("\n"));
}

#[test]
fn broken_toml_is_told_together_with_what_else_is_wrong() {
    let faults = Setting::new(
        "[node\nregion = \"x\"\n[nats]\nprefix = \"a.b\"\nuser = \n\
         [gpu]\nenabled = 3\n",
    )
    .faults();
    insta::assert_snapshot!(faults.join("\n"));
}

#[test]
fn a_variable_counts_over_the_file_and_is_named_when_it_is_wrong() {
    let toml = "[nats]\nservers = [\"nats://file\"]\n";
    let name = "OVNODE_NATS__SERVERS";
    let config = Setting::new(toml).var(name, "a, b:1").config();
    let servers: Vec<_> =
        config.nats.servers.iter().map(ToString::to_string).collect();
    assert_eq!(servers, ["nats://a:4222", "nats://b:1"]);
    let faults = Setting::new(toml).var(name, "ftp://x").faults();
    assert!(faults[0].starts_with("OVNODE_NATS__SERVERS: nats.servers: "));
}

#[test]
fn a_class_is_its_manifest_under_the_owners_caps_under_its_section() {
    let config = Setting::new(
        "[caps]\nwall = \"1m\"\nttl = \"5m\"\n[class.function]\nslots = 3\n\
         memory = \"512MiB\"\ncaps = { ttl = \"9m\" }\n",
    )
    .var("OVNODE_CLASS__FUNCTION__PIDS", "64")
    .config();
    let class = &config.classes[&RuntimeClass::Function];
    assert_eq!((class.slots, class.pids), (3, 64));
    assert_eq!(class.cpu, MilliCores(500));
    assert_eq!(class.memory, Bytes::mib(512));
    assert_eq!(class.caps.wall, Duration::from_secs(60));
    assert_eq!(class.caps.ttl, Duration::from_secs(540));
    let from = |key: &str| {
        let shown = config.shown.iter().find(|it| it.key == key).unwrap();
        shown.origin.to_string()
    };
    assert_eq!(from("class.function.pids"), "OVNODE_CLASS__FUNCTION__PIDS");
    assert!(from("class.function.cpu_cores").ends_with("class.toml:4"));
    assert!(from("class.function.memory").ends_with("node.toml:6"));
    assert_eq!(from("class.function.shm"), "default");
}

#[test]
fn impossible_pairs_are_told() {
    for (toml, word) in [
        ("[nats]\ncreds = \"/a\"\ntoken = \"t\"", "exclude each other"),
        ("[nats.tls]\ncert = \"/a\"", "nats.tls.key"),
        ("[nats]\npassword = \"p\"", "nats.user"),
        ("[intervals]\nsample = \"20s\"", "intervals.offer"),
        ("[class.function]\nscratch = \"120MiB\"", "leave nothing of it"),
        ("[class.code]", "no manifest"),
        ("[class.gpu]\nimage = \"x\"", "lease GPUs"),
        ("[control]\nsocket = \"/var/run/docker.sock\"", "engine"),
        ("[jobs]\nuid_first = 65000", "nobody"),
        ("[jobs]\nuid_count = 1\n[class.function]\nslots = 2", "2 slots"),
        ("[engine]\ninit = \"target/init\"", "absolute"),
        ("[offer]\nkinds = [\"runtime\"]", "nothing else"),
        ("[log]\nfilter = \"a=b=c\"", "log filter"),
    ] {
        let fault = fault(toml);
        assert!(fault.contains(word), "{fault}");
    }
}

#[test]
fn an_artifact_is_an_image_or_a_directory_of_a_class_configured_here() {
    let artifact = "[class.function]\n[[artifact]]\nname = \"a\"\n\
                    version = \"1\"\nclass = \"function\"\n\
                    command = [\"/run\"]\n";
    let dir = format!("{artifact}dir = \"/srv/a\"\n");
    let config = Setting::new(&dir).config();
    let plan = &config.artifacts[0];
    assert_eq!(plan.source, ArtifactSource::Directory("/srv/a".into()));
    assert!(!plan.stream_stderr);
    assert!(fault(artifact).contains("or `dir`"));
    let env = format!("{dir}env = {{ OV_CLASS = \"x\" }}");
    assert!(fault(&env).contains("own to set"));
    let twice = format!("{dir}{}", dir.replace("[class.function]\n", ""));
    assert!(fault(&twice).contains("declared twice"));
}

#[test]
fn secrets_show_up_nowhere_unless_asked_for() {
    let toml = "[nats]\nuser = \"me\"\npassword = \"hunter2\"\n\
                [class.function]\n[[artifact]]\nname = \"a\"\n\
                version = \"1\"\nclass = \"function\"\nimage = \"i\"\n\
                command = [\"x\"]\nenv = { KEY = \"hunter2\" }\n";
    let config = Setting::new(toml).config();
    assert!(!format!("{config:?} {:?}", config.nats).contains("hunter2"));
    let shown = |secrets| {
        let all = config.shown.iter().map(|it| it.value(secrets));
        all.collect::<String>().matches("hunter2").count()
    };
    assert_eq!(shown(Secrets::Hidden), 0);
    assert_eq!(shown(Secrets::Shown), 2);
    let bad = format!("{toml}\n[nats.tls]\npassword = \"hunter2\"\n");
    assert!(!Setting::new(&bad).faults().join("").contains("hunter2"));
}

#[test]
fn a_file_that_was_asked_for_must_be_there() {
    let file = Some(PathBuf::from("/nonexistent/node.toml"));
    let error = Config::load(&Sources { file, vars: Vec::new() });
    assert!(matches!(error, Err(ConfigError::Read { .. })));
}

#[test]
fn the_control_socket_is_found_whatever_else_is_wrong() {
    let setting = Setting::new(
        "[nats]\nsevrers = 3\n[control]\nsocket = \"/tmp/o.sock\"\n",
    );
    let socket = setting.sources().control_socket();
    assert_eq!(socket, PathBuf::from("/tmp/o.sock"));
}
