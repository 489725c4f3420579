use super::section::Section;
use super::{Secret, ServerAddr};
use crate::contract::Token;
use std::path::PathBuf;

/// How the node reaches NATS, and as whom.
#[derive(Clone, Debug, PartialEq)]
pub struct NatsConfig {
    /// At least one, tried in turn.
    pub servers: Vec<ServerAddr>,
    /// As whom.
    pub auth: NatsAuth,
    /// How the servers are known, and the node to them.
    pub tls: TlsConfig,
    /// The first token of every subject.
    pub prefix: Token,
    /// Where answers to the node's own requests go; the client's own where
    /// permissions do not pin one.
    pub inbox_prefix: Option<String>,
}

/// As whom the node connects: one way, or nobody in particular.
#[derive(Clone, Debug, PartialEq)]
pub enum NatsAuth {
    /// No credentials.
    Anonymous,
    /// A credentials file (JWT and seed), read at each connect.
    Creds(PathBuf),
    /// A file with an NKEY seed.
    NkeySeed(PathBuf),
    /// A token.
    Token(Secret),
    /// A user and password.
    Password {
        /// The user.
        user: String,
        /// The password.
        password: Secret,
    },
}

/// TLS towards the servers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TlsConfig {
    /// Roots to trust, PEM; the system's where there is none.
    pub ca: Option<PathBuf>,
    /// The node's own certificate.
    pub identity: Option<TlsIdentity>,
    /// Whether a server without TLS is refused.
    pub required: bool,
}

/// A client certificate: neither file is of use without the other.
#[derive(Clone, Debug, PartialEq)]
pub struct TlsIdentity {
    /// PEM.
    pub cert: PathBuf,
    /// PEM.
    pub key: PathBuf,
}

/// Reads `[nats]`.
pub(super) fn read(mut nats: Section<'_>) -> Option<NatsConfig> {
    let local: ServerAddr = "nats://127.0.0.1:4222".parse().ok()?;
    let servers = nats.or("servers", vec![local]);
    if servers.is_empty() {
        nats.fault("servers", "must name at least one server");
    }
    let auth = auth(&mut nats);
    let tls = tls(nats.section("tls"));
    let prefix = nats.or("prefix", Token::try_from("ov".to_owned()).ok()?);
    let inbox_prefix = nats.opt::<String>("inbox_prefix");
    if let Some(inbox) = &inbox_prefix {
        inbox_is_subject(&nats, inbox);
    }
    nats.done();
    Some(NatsConfig { servers, auth, tls, prefix, inbox_prefix })
}

/// Tokens between dots: anything else would subscribe to more, or nothing.
fn inbox_is_subject(nats: &Section<'_>, inbox: &str) {
    for token in inbox.split('.') {
        if Token::try_from(token.to_owned()).is_err() {
            let message = format!(
                "`{inbox}` is no prefix of subjects: write tokens with dots \
                 between, as `_INBOX.node`"
            );
            nats.fault("inbox_prefix", message);
            return;
        }
    }
}

fn auth(nats: &mut Section<'_>) -> NatsAuth {
    let creds = nats.opt("creds").map(NatsAuth::Creds);
    let seed = nats.opt("nkey_seed").map(NatsAuth::NkeySeed);
    let token = nats.opt("token").map(NatsAuth::Token);
    let user = nats.opt("user");
    let password = nats.opt("password");
    for (has, lacks, given) in [
        ("user", "password", (user.is_some(), password.is_some())),
        ("password", "user", (password.is_some(), user.is_some())),
    ] {
        if given == (true, false) && !nats.has(lacks) {
            nats.fault(has, format!("is of no use without `nats.{lacks}`"));
        }
    }
    let pair = user.zip(password);
    let pair =
        pair.map(|(user, password)| NatsAuth::Password { user, password });
    let ways = [
        ("creds", creds),
        ("nkey_seed", seed),
        ("token", token),
        ("user", pair),
    ];
    let mut ways: Vec<_> = ways
        .into_iter()
        .filter_map(|(key, auth)| auth.map(|auth| (key, auth)))
        .collect();
    for (key, _) in ways.iter().skip(1) {
        let first = ways[0].0;
        nats.fault(key, format!("and `nats.{first}` exclude each other"));
    }
    ways.truncate(1);
    ways.pop().map_or(NatsAuth::Anonymous, |(_, auth)| auth)
}

fn tls(mut tls: Section<'_>) -> TlsConfig {
    let ca = tls.opt("ca");
    let cert = tls.opt::<PathBuf>("cert");
    let key = tls.opt::<PathBuf>("key");
    let required = tls.or("required", false);
    if cert.is_some() && !tls.has("key") {
        tls.fault("cert", "is of no use without `nats.tls.key`");
    }
    if key.is_some() && !tls.has("cert") {
        tls.fault("key", "is of no use without `nats.tls.cert`");
    }
    let identity = cert.zip(key).map(|(cert, key)| TlsIdentity { cert, key });
    tls.done();
    TlsConfig { ca, identity, required }
}
