//! The configuration, read once and parsed into choices.
//!
//! A file, then `OVNODE_…` variables over it, become one tree whose every
//! value knows where it stands; walking that tree gathers all faults, so
//! that an owner mends a file once and not line after line. Nothing below
//! this room ever asks again whether a value makes sense.
mod artifact; // what may be run here, by name and version
mod class; // shares and caps of a class, layer over layer
mod daemon; // engine, control socket, GPUs, log
mod env; // `OVNODE_NATS__SERVERS` is `nats.servers`
mod fault; // what is wrong, where, under which key
mod jobs; // users of jobs, their reach, their grace
mod load; // the whole of it
mod nats; // servers, credentials, TLS
mod nearest; // did you mean
mod node; // who the node is and what it says of itself
mod raw; // TOML as a tree that remembers lines
mod secret; // what is never printed
mod section; // one table, walked key by key
mod server; // one NATS server's address
mod shown; // effective values and where they come from
mod timing; // intervals, and what the owner keeps
mod units; // `1h30m` and `512MiB`
mod wanted; // a raw value read as the type a key wants

#[cfg(test)]
mod tests;

pub use daemon::{ControlConfig, EngineConfig, GpuConfig, LogConfig};
pub use daemon::{LogFormat, OfferConfig};
pub use fault::{ConfigError, ConfigFault, Origin};
pub use jobs::JobsConfig;
pub use load::{Config, DEFAULT_PATH, Sources};
pub use nats::{NatsAuth, NatsConfig, TlsConfig, TlsIdentity};
pub use node::NodeConfig;
pub use secret::Secret;
pub use server::ServerAddr;
pub use shown::{Secrets, Shown};
pub use timing::{Intervals, Reserve};
