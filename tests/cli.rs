//! The command as programs see it: what it prints, where, and how it ends.
#![expect(clippy::unwrap_used, reason = "a helper that fails ends its test")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// One run's surroundings: a folder with a manifest, and no environment.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("function")).unwrap();
        let manifest = "class = \"function\"\nimage = \"ovnode/function:1\"\n";
        fs::write(dir.path().join("function/class.toml"), manifest).unwrap();
        Self { dir }
    }

    fn with(config: &str) -> Self {
        let place = Self::new();
        fs::write(place.config(), config).unwrap();
        place
    }

    fn config(&self) -> PathBuf {
        self.dir.path().join("node.toml")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ovnode"));
        command
            .args(args)
            .env_clear()
            .env("OVNODE_CONFIG", self.config())
            .env("OVNODE_WORKERS__DIR", self.dir.path())
            .current_dir(self.dir.path())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Ended {
        Ended::from(self.command(args).output().unwrap())
    }

    fn pipe(&self, args: &[&str], input: &[u8]) -> Ended {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let ended = child.wait_with_output().unwrap();
        // It may stop reading early, which is its own to decide.
        drop(writer.join().unwrap());
        Ended::from(ended)
    }
}

#[derive(Debug)]
struct Ended {
    code: i32,
    out: String,
    err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

const JOB: &str = r#"{"id":"job_01JAB2C3D4E5F6G7H8J9K0MNPQ","class":"linux","args":{},"ttl_ms":1000,"limits":{"wall_ms":1000,"cpu_ms":1000,"mem_bytes":16777216}}"#;

#[test]
fn config_check_says_every_fault_with_file_line_and_key() {
    let place = Place::with(
        "[node]\nregoin = \"x\"\n[nats]\nprefix = \"a.b\"\n\
         [class.function]\nslots = 0\n",
    );
    let mut command = place.command(&["config", "check"]);
    let ended =
        Ended::from(command.env("OVNODE_GPU__ENABLED", "3").output().unwrap());
    assert_eq!(ended.code, 78);
    let file = place.config().display().to_string();
    let lines: Vec<_> = ended.out.lines().collect();
    assert_eq!(lines.len(), 4, "{ended:?}");
    assert!(lines[0].starts_with(&format!("{file}:2: node.regoin: ")));
    assert!(lines[1].starts_with(&format!("{file}:4: nats.prefix: ")));
    assert!(lines[2].starts_with(&format!("{file}:6: class.function.slots")));
    assert!(lines[3].starts_with("OVNODE_GPU__ENABLED: gpu.enabled: "));
}

#[test]
fn a_configuration_without_faults_is_ok() {
    let place = Place::with("[class.function]\nslots = 2\n");
    let ended = place.run(&["config", "check"]);
    assert_eq!((ended.code, ended.out.as_str()), (0, "ok\n"), "{ended:?}");
}

#[test]
fn commands_that_need_a_configuration_end_with_78_without_one() {
    let place = Place::new();
    let ended = place.run(&["config", "show"]);
    assert_eq!(ended.code, 78);
    assert!(ended.err.starts_with("ovnode: cannot read the configuration"));
    assert!(ended.err.contains("ovnode config init"));
}

#[test]
fn config_show_says_where_each_value_comes_from_and_hides_secrets() {
    let place = Place::with(
        "[nats]\nservers = [\"nats://file\"]\ntoken = \"hunter2\"\n",
    );
    let show = |args: &[&str]| {
        let mut command = place.command(args);
        command.env("OVNODE_NATS__SERVERS", "nats://env");
        Ended::from(command.output().unwrap())
    };
    let hidden = show(&["config", "show"]);
    assert_eq!(hidden.code, 0, "{hidden:?}");
    assert!(!hidden.out.contains("hunter2"));
    let line = |key: &str| {
        let found = hidden.out.lines().find(|line| line.starts_with(key));
        found.unwrap().to_owned()
    };
    let servers = line("nats.servers");
    assert!(servers.starts_with("nats.servers = [\"nats://env:4222\"]"));
    assert!(servers.ends_with("# OVNODE_NATS__SERVERS"));
    assert!(line("nats.token = (hidden)").ends_with("node.toml:3"));
    assert!(line("nats.prefix").ends_with("# default"));
    let shown = show(&["config", "show", "--secrets=shown"]);
    assert!(shown.out.contains("nats.token = \"hunter2\""));
}

#[test]
fn config_init_writes_a_configuration_that_is_well_and_never_over_another() {
    let place = Place::new();
    let nested = place.dir.path().join("etc/node.toml");
    let file = nested.to_str().unwrap();
    assert_eq!(place.run(&["--config", file, "config", "init"]).code, 0);
    assert_eq!(place.run(&["--config", file, "config", "check"]).code, 0);
    fs::write(&nested, "# mine\n").unwrap();
    let again = place.run(&["--config", file, "config", "init"]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("--force"), "{again:?}");
    assert_eq!(fs::read_to_string(&nested).unwrap(), "# mine\n");
    let forced = place.run(&["--config", file, "config", "init", "--force"]);
    assert_eq!(forced.code, 0);
    assert_ne!(fs::read_to_string(&nested).unwrap(), "# mine\n");
    let left = fs::read_dir(nested.parent().unwrap()).unwrap().count();
    assert_eq!(left, 1, "nothing is left beside it");
}

#[test]
fn each_line_on_standard_input_is_answered_with_a_line() {
    let place = Place::new();
    let mut input = format!("{JOB}\n{{}}\nnot json\n").into_bytes();
    input.extend_from_slice(b"{\"id\":\"\xff\"}\n");
    input.extend_from_slice(JOB.as_bytes());
    let ended = place.pipe(&["contract", "validate", "job", "-"], &input);
    assert_eq!(ended.code, 1);
    let lines: Vec<_> = ended.out.lines().collect();
    assert_eq!(lines.len(), 5, "{ended:?}");
    assert_eq!((lines[0], lines[4]), ("ok", "ok"));
    for bad in &lines[1..4] {
        assert!(bad.starts_with("error: "), "{bad}");
    }
}

#[test]
fn a_document_that_is_endless_costs_no_memory_and_is_one_error() {
    let place = Place::new();
    let mut input = vec![b'['; 9 << 20];
    input.extend_from_slice(format!("\n{JOB}\n").as_bytes());
    let ended = place.pipe(&["contract", "validate", "job", "-"], &input);
    let lines: Vec<_> = ended.out.lines().collect();
    assert_eq!(lines.len(), 2, "{ended:?}");
    assert!(lines[0].contains("longer than"));
    assert_eq!(lines[1], "ok");
}

#[test]
fn programs_get_every_fault_as_json() {
    let place = Place::new();
    let args = ["contract", "validate", "--json", "job", "-"];
    let ended = place.pipe(&args, format!("{JOB}\n{{}}\n").as_bytes());
    let answers: Vec<serde_json::Value> =
        ended.out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(answers[0]["valid"], true);
    assert_eq!(answers[0]["errors"], serde_json::json!([]));
    assert_eq!(answers[1]["valid"], false);
    assert!(answers[1]["errors"].as_array().unwrap().len() > 2);
    assert!(answers[1]["errors"][0]["message"].is_string());
}

#[test]
fn documents_in_files_are_answered_by_name() {
    let place = Place::new();
    let path = |name: &str| place.dir.path().join(name);
    fs::write(path("good.json"), JOB).unwrap();
    fs::write(path("bad.json"), "{}").unwrap();
    let validate = ["contract", "validate", "job"];
    let one = place.run(&[&validate[..], &["good.json"]].concat());
    assert_eq!((one.code, one.out.as_str()), (0, "ok\n"));
    let two = place.run(&[&validate[..], &["good.json", "bad.json"]].concat());
    assert_eq!(two.code, 1);
    assert!(two.out.starts_with("good.json: ok\nbad.json: error: "));
}

#[test]
fn what_makes_no_sense_ends_with_2() {
    let place = Place::new();
    let unknown = place.run(&["contract", "validate", "jbo", "-"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("resource-offer"), "{unknown:?}");
    for args in [&["colour"][..], &["contract", "validate", "job"], &[]] {
        assert_eq!(place.run(args).code, 2, "{args:?}");
    }
    assert_eq!(place.run(&["--help"]).code, 0);
    assert_eq!(place.run(&["--version"]).out, "ovnode 0.1.0\n");
}

#[test]
fn the_doctor_finds_what_is_missing_and_names_what_mends_it() {
    let place = Place::with(&format!(
        "[class.function]\nimage = \"ovnode/none:0\"\n\
         [engine]\ninit = \"/nonexistent/init\"\n\
         [nats]\nservers = [\"127.0.0.1:1\"]\n\
         [node]\nstate_dir = \"{0}\"\n[control]\nsocket = \"{0}/c.sock\"\n",
        Path::new("/tmp").display()
    ));
    let ended = place.run(&["doctor", "--json"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    let answer: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(answer["outcome"], "fault");
    let check = |name: &str| {
        let checks = answer["checks"].as_array().unwrap();
        checks.iter().find(|it| it["name"] == name).cloned().unwrap()
    };
    assert_eq!(check("image function")["outcome"], "fault");
    let fix = "ovnode images build function";
    assert_eq!(check("image function")["fix"], fix);
    assert_eq!(check("init")["outcome"], "fault");
    assert_eq!(check("nats")["outcome"], "fault");
    assert_eq!(check("daemon")["outcome"], "warning");
    assert_eq!(check("engine")["outcome"], "ok");
    assert_eq!(check("clock")["outcome"], "ok");
    assert_eq!(check("config")["outcome"], "ok");
}
