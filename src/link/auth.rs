use super::config::{LinkAuth, LinkTls, Secret};
use super::error::LinkError;
use async_nats::{ConnectOptions, ServerAddr};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

impl Secret {
    async fn read(&self) -> Result<String, LinkError> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::File(path) => {
                let text = read(path).await?;
                let first = text.lines().next().unwrap_or_default();
                Ok(first.trim().to_owned())
            }
        }
    }
}

async fn read(path: &Path) -> Result<String, LinkError> {
    tokio::fs::read_to_string(path).await.map_err(|source| {
        LinkError::ReadSecret { path: path.to_owned(), source }
    })
}

/// The options of one attempt, with every secret read now.
pub(super) async fn options(
    auth: &LinkAuth,
    server: &ServerAddr,
) -> Result<ConnectOptions, LinkError> {
    let options = ConnectOptions::new();
    match auth {
        LinkAuth::None => Ok(from_address(options, server)),
        LinkAuth::CredsFile(path) => {
            let text = read(path).await?;
            options.credentials(&text).map_err(|_| LinkError::BadSecret {
                path: path.clone(),
                wanted: "a user's JWT and its seed",
            })
        }
        LinkAuth::NkeySeedFile(path) => {
            let seed = seed_in(&read(path).await?).ok_or_else(|| {
                let wanted = "an NKEY seed of a user";
                LinkError::BadSecret { path: path.clone(), wanted }
            })?;
            Ok(options.nkey(seed))
        }
        LinkAuth::Token(token) => Ok(options.token(token.read().await?)),
        LinkAuth::UserPassword { user, password } => {
            let password = password.read().await?;
            Ok(options.user_and_password(user.clone(), password))
        }
    }
}

/// A name and password, or a token, that stand in the server's address.
fn from_address(
    options: ConnectOptions,
    server: &ServerAddr,
) -> ConnectOptions {
    match (server.username(), server.password()) {
        (Some(user), Some(password)) => {
            options.user_and_password(user.to_owned(), password.to_owned())
        }
        (Some(token), None) => options.token(token.to_owned()),
        (None, _) => options,
    }
}

/// The first line that is a user's seed.
fn seed_in(text: &str) -> Option<String> {
    let seed = text.lines().map(str::trim).find(|l| l.starts_with("SU"))?;
    nkeys::KeyPair::from_seed(seed).ok()?;
    Some(seed.to_owned())
}

/// As whom we come, without the secret: named where we are refused.
pub(super) fn who(auth: &LinkAuth) -> String {
    match auth {
        LinkAuth::None => "none configured".to_owned(),
        LinkAuth::CredsFile(path) => format!("from `{}`", path.display()),
        LinkAuth::NkeySeedFile(path) => {
            format!("nkey from `{}`", path.display())
        }
        LinkAuth::Token(Secret::Text(_)) => "the configured token".to_owned(),
        LinkAuth::Token(Secret::File(path)) => {
            format!("token from `{}`", path.display())
        }
        LinkAuth::UserPassword { user, password: Secret::Text(_) } => {
            format!("user `{user}`")
        }
        LinkAuth::UserPassword { user, password: Secret::File(path) } => {
            format!("user `{user}`, password from `{}`", path.display())
        }
    }
}

/// Where answers to our own questions go.
pub(super) fn inboxes(
    options: ConnectOptions,
    prefix: Option<&str>,
) -> ConnectOptions {
    match prefix {
        Some(prefix) => options.custom_inbox_prefix(prefix),
        None => options,
    }
}

/// Protects the connection. The files are read by the client, each time.
pub(super) fn protect(
    mut options: ConnectOptions,
    tls: &LinkTls,
    server: &ServerAddr,
) -> ConnectOptions {
    options = options.require_tls(tls.required || server.tls_required());
    if let Some(roots) = &tls.roots {
        options = options.add_root_certificates(roots.clone());
    }
    if let Some((cert, key)) = &tls.certificate {
        options = options.add_client_certificate(cert.clone(), key.clone());
    }
    options
}

/// The state of the files that credentials come from. Where it differs from
/// an earlier one, it is worth trying again at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp(Vec<Option<(SystemTime, u64)>>);

impl Stamp {
    pub(super) async fn of(auth: &LinkAuth, tls: &LinkTls) -> Self {
        let mut stamps = Vec::new();
        for path in files(auth, tls) {
            let about = tokio::fs::metadata(path).await.ok();
            stamps.push(
                about.and_then(|about| {
                    Some((about.modified().ok()?, about.len()))
                }),
            );
        }
        Self(stamps)
    }
}

fn files<'a>(auth: &'a LinkAuth, tls: &'a LinkTls) -> Vec<&'a PathBuf> {
    let secret = match auth {
        LinkAuth::CredsFile(path)
        | LinkAuth::NkeySeedFile(path)
        | LinkAuth::Token(Secret::File(path))
        | LinkAuth::UserPassword { password: Secret::File(path), .. } => {
            Some(path)
        }
        LinkAuth::None
        | LinkAuth::Token(Secret::Text(_))
        | LinkAuth::UserPassword { password: Secret::Text(_), .. } => None,
    };
    let pair = tls.certificate.iter().flat_map(|(cert, key)| [cert, key]);
    secret.into_iter().chain(&tls.roots).chain(pair).collect()
}
