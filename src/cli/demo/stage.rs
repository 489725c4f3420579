use super::jobs::ARTIFACTS;
use crate::cli::exit::CliError;
use crate::contract::Clock as _;
use crate::node::config::{Config, Sources};
use crate::node::{SystemClock, new_job_id};
use anyhow::Context as _;
use std::fs::{self, DirBuilder, File};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A folder, a NATS server and a configuration of the demo's own. Dropped,
/// the server has ended and the folder is gone.
pub(super) struct Stage {
    folder: PathBuf,
    port: u16,
    server: Option<Child>,
}

impl Stage {
    /// Makes the folder and starts the server on a free loopback port.
    pub(super) fn set() -> anyhow::Result<Self> {
        let program = nats_server()?;
        let id = new_job_id(SystemClock.now().wall)?;
        let folder = std::env::temp_dir();
        let folder = folder.join(id.as_str().replace("job", "ovnode-demo"));
        let made = DirBuilder::new().mode(0o700).create(&folder);
        made.with_context(|| format!("cannot make `{}`", folder.display()))?;
        let mut stage = Self { folder, port: free_port()?, server: None };
        let log = File::create(stage.folder.join("nats.log"))?;
        let server = Command::new(&program)
            .args(["-a", "127.0.0.1", "-p", &stage.port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot run `{}`", program.display()))?;
        stage.server = Some(server);
        Ok(stage)
    }

    /// Where the server listens.
    pub(super) fn nats(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// The node's configuration; its engine is that of `own`, the machine's
    /// configuration, where there is one.
    pub(super) fn config(&self, own: &Sources) -> anyhow::Result<Config> {
        let engine = Config::load(own).map(|config| config.engine);
        let engine = engine.context("the machine's own configuration")?;
        let near = std::env::current_exe().unwrap_or_default();
        let near = near.parent().unwrap_or(Path::new("/"));
        let init = first(&[
            engine.init,
            // Where `make init` puts it, seen from target/debug/ovnode.
            near.join("../init/ovnode-init"),
        ]);
        let workers = first(&[
            PathBuf::from("/usr/share/ovnode/workers"),
            near.join("../../workers"),
            std::env::current_dir().unwrap_or_default().join("workers"),
        ]);
        let text = self.text(&engine.socket, &init, &workers);
        let file = self.folder.join("node.toml");
        fs::write(&file, text)?;
        let sources = Sources { file: Some(file), vars: Vec::new() };
        Ok(Config::load(&sources)?)
    }

    fn text(&self, engine: &Path, init: &Path, workers: &Path) -> String {
        let (folder, nats) = (self.folder.display(), self.nats());
        format!(
            "[node]\nstate_dir = '{folder}/state'\n\
             [nats]\nservers = ['{nats}']\n\
             [engine]\nsocket = '{}'\ninit = '{}'\n\
             [control]\nsocket = '{folder}/control.sock'\n\
             [workers]\ndir = '{}'\n\
             [class.function]\nslots = 2\n{ARTIFACTS}",
            engine.display(),
            init.display(),
            workers.display(),
        )
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let ended = self.server.take().map(|mut server| {
            server.kill().and_then(|()| server.wait()).map(drop)
        });
        let gone = fs::remove_dir_all(&self.folder);
        for left in [ended.unwrap_or(Ok(())), gone] {
            if let Err(error) = left {
                let folder = self.folder.display();
                tracing::warn!(%error, %folder, "something is left behind");
            }
        }
    }
}

/// The first that is there; the first at all if none is, so that whoever
/// misses it says where it was looked for.
fn first(places: &[PathBuf]) -> PathBuf {
    let found = places.iter().find_map(|it| fs::canonicalize(it).ok());
    found.or_else(|| places.first().cloned()).unwrap_or_default()
}

fn nats_server() -> Result<PathBuf, CliError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs = std::env::split_paths(&path);
    // Debian has it where only root's PATH leads.
    let dirs = dirs.chain([PathBuf::from("/usr/sbin")]);
    let mut places = dirs.map(|dir| dir.join("nats-server"));
    places.find(|place| place.is_file()).ok_or_else(|| {
        CliError::Unavailable(
            "there is no `nats-server` on this machine: install it \
             (Debian, Ubuntu: apt-get install nats-server)"
                .to_owned(),
        )
    })
}

/// Free a moment ago; whoever takes it in between fails the demo, loudly.
fn free_port() -> std::io::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}
