//! The local socket: documents, client, server.
//!
//! HTTP over a Unix socket. The server knows nothing of jobs: it is handed
//! documents as bytes through a trait of its own, which `node` implements.
