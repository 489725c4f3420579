use super::envelope::AnyFrame;
use super::read::{self, Read};
use super::{
    AgentOffer, Answer, DeliveryOffer, Fault, FaultKind, Faults, HarnessOffer,
    Job, NodeCapabilities, ResourceOffer, RuntimeClass, RuntimeOffer,
    StorageOffer, UsageSample,
};

/// The contracts that [`validate`] knows, by name.
pub const CONTRACTS: [&str; 12] = [
    "agent-offer",
    "delivery-offer",
    "harness-offer",
    "job",
    "job-answer",
    "job-frame",
    "node-capabilities",
    "resource-offer",
    "runtime-class",
    "runtime-offer",
    "storage-offer",
    "usage-sample",
];

/// Whether `text` is a document of the contract `name`.
///
/// # Errors
/// All its faults; one where it is not JSON, or no contract has that name.
pub fn validate(name: &str, text: &str) -> Result<(), Faults> {
    let check = match name {
        "agent-offer" => check::<AgentOffer>,
        "delivery-offer" => check::<DeliveryOffer>,
        "harness-offer" => check::<HarnessOffer>,
        "job" => check::<Job>,
        "job-answer" => check::<Answer>,
        "job-frame" => check::<AnyFrame>,
        "node-capabilities" => check::<NodeCapabilities>,
        "resource-offer" => check::<ResourceOffer>,
        "runtime-class" => check::<RuntimeClass>,
        "runtime-offer" => check::<RuntimeOffer>,
        "storage-offer" => check::<StorageOffer>,
        "usage-sample" => check::<UsageSample>,
        _ => return Err(unknown(name)),
    };
    check(text.as_bytes())
}

fn check<T: Read>(json: &[u8]) -> Result<(), Faults> {
    read::text::<T>(json).map(|_| ())
}

fn unknown(name: &str) -> Faults {
    let known = CONTRACTS.join("`, `");
    let message = format!("there is no contract `{name}`; there are `{known}`");
    let path = String::new();
    Faults(vec![Fault { path, kind: FaultKind::Value, message }])
}
