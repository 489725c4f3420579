use std::fmt;
use std::str::FromStr;

/// The address of one NATS server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddr {
    /// Whether TLS is asked for (`tls://`).
    pub tls: bool,
    /// Name or address, IPv6 without its brackets.
    pub host: String,
    /// 4222 where none is written.
    pub port: u16,
}

impl fmt::Display for ServerAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "tls" } else { "nats" };
        let (host, port) = (&self.host, self.port);
        if host.contains(':') {
            write!(f, "{scheme}://[{host}]:{port}")
        } else {
            write!(f, "{scheme}://{host}:{port}")
        }
    }
}

impl FromStr for ServerAddr {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Before anything is echoed: it may hold a password.
        if text.contains('@') {
            return Err("must not hold credentials: addresses are logged; \
                 use nats.user and nats.password, or nats.token"
                .to_owned());
        }
        let bad = || {
            format!(
                "`{text}` is not a NATS server: \
                 write `nats://host:4222` or `tls://host:4222`"
            )
        };
        let (scheme, rest) = text.split_once("://").unwrap_or(("nats", text));
        let tls = match scheme {
            "nats" => false,
            "tls" => true,
            _ => return Err(bad()),
        };
        let (host, port) = host_and_port(rest).ok_or_else(bad)?;
        Ok(Self { tls, host: host.to_owned(), port })
    }
}

fn host_and_port(text: &str) -> Option<(&str, u16)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, port.strip_prefix(':').or(port.is_empty().then_some("")))
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, Some("")),
        },
    };
    let clean = |b: u8| b.is_ascii_alphanumeric() || b".-_:".contains(&b);
    if host.is_empty() || !host.bytes().all(clean) {
        return None;
    }
    match port? {
        "" => Some((host, 4222)),
        port => port.parse().ok().filter(|p| *p > 0).map(|p| (host, p)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_back_as_it_is_written() {
        for (written, meant) in [
            ("nats://a.example:4223", "nats://a.example:4223"),
            ("a.example", "nats://a.example:4222"),
            ("tls://[::1]:4222", "tls://[::1]:4222"),
            ("[fe80::1]", "nats://[fe80::1]:4222"),
        ] {
            let addr: ServerAddr = written.parse().unwrap();
            assert_eq!(addr.to_string(), meant);
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for bad in ["", "http://a", "nats://", "a:0", "a:70000", "a:b", "[x]"] {
            assert!(bad.parse::<ServerAddr>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_not_repeated() {
        let fault = "nats://me:hunter2@a".parse::<ServerAddr>().unwrap_err();
        assert!(!fault.contains("hunter2"));
    }
}
