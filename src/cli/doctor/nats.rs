use super::check::Check;
use crate::node::config::{NatsAuth, NatsConfig, ServerAddr};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// For a name to be looked up, a connection made and a greeting read: a
/// server that takes longer is of no use for a job's deadlines either.
const DEADLINE: Duration = Duration::from_secs(3);

/// A server's greeting is a line of a few hundred bytes.
const GREETING_BYTES: u64 = 64 << 10;

/// Connects to each server and reads its greeting, then looks at the files
/// that say who this node is.
pub(super) async fn look(config: &NatsConfig) -> Vec<Check> {
    let mut checks = Vec::new();
    for server in &config.servers {
        let greeted = match timeout(DEADLINE, greeting(server)).await {
            Ok(greeted) => greeted,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        };
        checks.push(judge(server, greeted));
    }
    checks.extend(files(config).into_iter().map(|(key, path, secret)| {
        let mode = fs::File::open(path)
            .and_then(|file| file.metadata())
            .map(|meta| meta.permissions().mode());
        judge_file(key, path, mode, secret)
    }));
    checks
}

async fn greeting(server: &ServerAddr) -> io::Result<String> {
    let stream =
        TcpStream::connect((server.host.as_str(), server.port)).await?;
    let mut line = String::new();
    BufReader::new(stream.take(GREETING_BYTES)).read_line(&mut line).await?;
    Ok(line)
}

fn judge(server: &ServerAddr, greeted: io::Result<String>) -> Check {
    let name = "nats";
    let line = match greeted {
        Ok(line) => line,
        Err(why) => {
            let text = format!("{server} cannot be reached: {why}");
            let mend = format!("nc -vz {} {}", server.host, server.port);
            return Check::fault(name, text).fix(mend);
        }
    };
    let info = line
        .strip_prefix("INFO ")
        .and_then(|json| serde_json::from_str::<serde_json::Value>(json).ok());
    let Some(info) = info else {
        let text = format!("{server} answers, but not as a NATS server");
        return Check::fault(name, text);
    };
    let version = info["version"].as_str().unwrap_or("unknown");
    let jetstream = match info["jetstream"].as_bool() {
        Some(true) => "with JetStream",
        _ => "without JetStream",
    };
    let text = format!("{server} answers, version {version}, {jetstream}");
    Check::ok(name, text)
}

/// Key, file, and whether nobody else may read it.
fn files(config: &NatsConfig) -> Vec<(&'static str, &Path, bool)> {
    let mut files = Vec::new();
    match &config.auth {
        NatsAuth::Creds(path) => {
            files.push(("nats.creds", path.as_path(), true));
        }
        NatsAuth::NkeySeed(path) => {
            files.push(("nats.nkey_seed", path.as_path(), true));
        }
        NatsAuth::Anonymous
        | NatsAuth::Token(_)
        | NatsAuth::Password { .. } => {}
    }
    if let Some(ca) = &config.tls.ca {
        files.push(("nats.tls.ca", ca.as_path(), false));
    }
    if let Some(identity) = &config.tls.identity {
        files.push(("nats.tls.cert", identity.cert.as_path(), false));
        files.push(("nats.tls.key", identity.key.as_path(), true));
    }
    files
}

fn judge_file(
    key: &str,
    path: &Path,
    mode: io::Result<u32>,
    secret: bool,
) -> Check {
    let shown = path.display();
    match mode {
        Err(why) => Check::fault(key, format!("`{shown}`: {why}")),
        Ok(mode) if secret && mode & 0o077 != 0 => {
            let text = format!("`{shown}` can be read by others");
            Check::warning(key, text).fix(format!("chmod 0600 {shown}"))
        }
        Ok(_) => Check::ok(key, format!("`{shown}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::check::Outcome;

    fn server() -> ServerAddr {
        "nats://a:4222".parse().unwrap()
    }

    #[test]
    fn a_server_is_known_by_its_greeting() {
        let info = "INFO {\"version\":\"2.9.10\",\"jetstream\":true}\r\n";
        let well = judge(&server(), Ok(info.to_owned()));
        assert_eq!(
            well.text,
            "nats://a:4222 answers, version 2.9.10, with JetStream"
        );
        let http = judge(&server(), Ok("HTTP/1.1 400\r\n".to_owned()));
        assert_eq!(http.outcome, Outcome::Fault);
        let late = judge(&server(), Err(io::ErrorKind::TimedOut.into()));
        assert_eq!(late.outcome, Outcome::Fault);
    }

    #[test]
    fn credentials_that_others_can_read_are_told() {
        let path = Path::new("/etc/ovnode/node.creds");
        let open = judge_file("nats.creds", path, Ok(0o100_644), true);
        assert_eq!(open.outcome, Outcome::Warning);
        let well = judge_file("nats.creds", path, Ok(0o100_600), true);
        assert_eq!(well.outcome, Outcome::Ok);
    }
}
