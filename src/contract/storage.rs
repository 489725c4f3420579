use super::Amount;
use super::read::{At, Read, document, fields};
use super::words::words;
use serde::Serialize;

/// Storage on offer (`platform.storage-offer@1`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StorageOffer {
    /// Its id.
    pub id: String,
    /// How fast it is at hand.
    pub class: StorageClass,
    /// How much there is.
    pub capacity_gb: Amount,
    /// Of keeping.
    pub price_per_gb_month_usd: Amount,
    /// Of reading and writing.
    pub price_per_operation_usd: Amount,
    /// Where it stands.
    pub region: String,
    /// On which node.
    pub node: String,
    /// How well it keeps.
    pub durability: Durability,
    /// What becomes of old objects.
    pub lifecycle_rules: Vec<LifecycleRule>,
}

document!(StorageOffer);

words! {
    /// How fast storage is at hand.
    StorageClass {
        /// At once.
        Hot = "hot",
        /// Soon.
        Warm = "warm",
        /// After a while.
        Cold = "cold",
    }
}

/// How well storage keeps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Durability {
    /// Copies.
    pub replicas: u64,
    /// Nines of the share that is kept over a year.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_nines: Option<Amount>,
}

/// What becomes of objects of an age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LifecycleRule {
    /// The age.
    pub after_days: u64,
    /// What happens.
    pub action: LifecycleAction,
    /// Where a transition leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_class: Option<StorageClass>,
}

words! {
    /// What happens to an object of some age.
    LifecycleAction {
        /// It moves to another class.
        Transition = "transition",
        /// It is deleted.
        Expire = "expire",
    }
}

impl Read for StorageOffer {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            id: need,
            class: need,
            capacity_gb: need,
            price_per_gb_month_usd: need,
            price_per_operation_usd: need,
            region: need,
            node: need,
            durability: need,
            lifecycle_rules: need,
        })
    }
}

impl Read for Durability {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self { replicas: need, target_nines: may })
    }
}

impl Read for LifecycleRule {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            after_days: need,
            action: need,
            target_class: may,
        })
    }
}
