use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A real nats-server on a free loopback port, ended with the value.
pub(crate) struct Nats {
    port: u16,
    home: TempDir,
    child: Option<Child>,
}

impl Nats {
    /// A server with these lines in its configuration file.
    pub(crate) fn with(config: &str) -> Self {
        let mut nats = Self::down();
        nats.configure(config);
        nats.up();
        nats
    }

    /// A server without any configuration.
    pub(crate) fn start() -> Self {
        Self::with("")
    }

    /// A server's place, where none runs yet.
    pub(crate) fn down() -> Self {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = free.local_addr().unwrap().port();
        let nats = Self { port, home: TempDir::new().unwrap(), child: None };
        nats.configure("");
        nats
    }

    /// Writes the configuration; a running server is told to read it again.
    pub(crate) fn configure(&self, config: &str) {
        std::fs::write(self.file("nats.conf"), config).unwrap();
        if let Some(child) = &self.child {
            let pid = child.id().to_string();
            let told = Command::new("kill").args(["-HUP", &pid]).status();
            assert!(told.unwrap().success());
        }
    }

    /// Starts it, on the same port as before.
    pub(crate) fn up(&mut self) {
        let log = std::fs::File::create(self.file("nats.log")).unwrap();
        let child = Command::new("nats-server")
            .args(["-a", "127.0.0.1", "-p", &self.port.to_string(), "-c"])
            .arg(self.file("nats.conf"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        self.child = Some(child);
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            assert!(start.elapsed() < super::LONG, "{}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// A file in the server's own folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// What it wrote to its log.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.file("nats.log")).unwrap_or_default()
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// A plain client of its own.
    pub(crate) async fn client(&self) -> async_nats::Client {
        super::soon(async_nats::connect(self.url())).await.unwrap()
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}
