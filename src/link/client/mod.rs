//! The dispatcher's side of the wire: hear what nodes offer, send one a job,
//! follow its story, acknowledge its exit.
//!
//! Whatever came on a subject is believed for its subject, which permissions
//! pin, and never for what the document says of itself. No answer means that
//! nobody knows whether the job runs: repeat it to the same node, or cancel
//! it; only a refusal, or nobody listening, allows to go elsewhere.
mod dispatcher; // the connection, and what a node can be asked
mod fleet; // which offers are alive
mod offers; // the stream of offers
mod run; // one job at one node
pub use dispatcher::{ArtifactSeen, Dispatcher, DispatcherConfig};
pub use fleet::{OfferSeen, OfferView};
pub use offers::{OfferNews, Offers};
pub use run::{FrameSeen, Run, Sent};
