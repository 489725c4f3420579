use super::forms::is_runtime_need;
use super::read::{At, Read, document, fields};
use super::words::{form, words};
use super::{Amount, Ratio, RuntimeClass};
use serde::Serialize;
use std::collections::BTreeSet;

/// A coding agent on offer (`platform.harness-offer@1`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HarnessOffer {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub provider: String,
    /// What it can do.
    pub capabilities: HarnessCapabilities,
    /// How it is reached.
    pub address: HarnessAddress,
    /// What it costs.
    pub price: HarnessPrice,
    /// What one run may have.
    pub limits: HarnessLimits,
    /// The kinds of task it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_capabilities: Option<BTreeSet<TaskCapability>>,
    /// What it needs to be installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_needs: Option<BTreeSet<RuntimeNeed>>,
    /// Whether the caller brings the model's key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byo_key: Option<bool>,
    /// Of its runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success_rate: Option<Ratio>,
}

document!(HarnessOffer);

/// What a harness can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HarnessCapabilities {
    /// Touch its host.
    pub host_access: bool,
    /// Use MCP servers.
    pub mcp: bool,
    /// Work long without being asked.
    pub long_autonomy: bool,
    /// Go on with an earlier session.
    pub resume: bool,
    /// Edit files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit: Option<bool>,
    /// Review changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<bool>,
    /// Call tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// See images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vision: Option<bool>,
    /// Drive a browser.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub browser: Option<bool>,
    /// Drive a screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub computer_use: Option<bool>,
    /// Run in these classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtimes: Option<BTreeSet<RuntimeClass>>,
}

/// How a harness is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HarnessAddress {
    /// By what.
    pub kind: AddressKind,
    /// Where.
    pub target: String,
}

words! {
    /// By what a harness is reached.
    AddressKind {
        /// An HTTP interface.
        Api = "api",
        /// A program.
        Cli = "cli",
        /// An MCP server.
        Mcp = "mcp",
    }
}

/// What a harness costs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HarnessPrice {
    /// Dollars a unit.
    pub amount_usd: Amount,
    /// The unit.
    pub unit: String,
}

/// What one run of a harness may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HarnessLimits {
    /// Time.
    pub max_duration_seconds: u64,
    /// Runs at once.
    pub max_concurrent_runs: u64,
    /// Of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_context_tokens: Option<u64>,
}

words! {
    /// A kind of task.
    TaskCapability {
        /// Change files.
        Edit = "edit",
        /// Judge changes.
        Review = "review",
        /// Read the web.
        Browse = "browse",
        /// Run programs.
        Run = "run",
        /// Run tests.
        Test = "test",
        /// Say what to do.
        Plan = "plan",
    }
}

form! {
    /// What a harness needs to be installed, as `node20` or `git`.
    RuntimeNeed: is_runtime_need,
    "a need (1 to 40 lower-case letters, digits, `.` and `-`, the first a letter)"
}

impl Read for HarnessOffer {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            id: need,
            name: need,
            provider: need,
            capabilities: need,
            address: need,
            price: need,
            limits: need,
            task_capabilities: may,
            runtime_needs: may,
            byo_key: may,
            success_rate: may,
        })
    }
}

impl Read for HarnessCapabilities {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            host_access: need,
            mcp: need,
            long_autonomy: need,
            resume: need,
            edit: may,
            review: may,
            tools: may,
            vision: may,
            browser: may,
            computer_use: may,
            runtimes: may,
        })
    }
}

impl Read for HarnessAddress {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self { kind: need, target: need })
    }
}

impl Read for HarnessPrice {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self { amount_usd: need, unit: need })
    }
}

impl Read for HarnessLimits {
    fn read(at: At<'_>) -> Option<Self> {
        fields!(at => Self {
            max_duration_seconds: need,
            max_concurrent_runs: need,
            max_context_tokens: may,
        })
    }
}
