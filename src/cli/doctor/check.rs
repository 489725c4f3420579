use serde::Serialize;
use std::io::{self, Write};

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    /// What was looked at, in a word.
    pub(super) name: String,
    /// How it is.
    pub(super) outcome: Outcome,
    /// A sentence with what was seen.
    pub(super) text: String,
    /// The one command that mends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fix: Option<String>,
}

/// How something is, from well to not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    Ok,
    Warning,
    Fault,
}

impl Outcome {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Fault => "fault",
        }
    }
}

impl Check {
    fn new(name: &str, outcome: Outcome, text: impl Into<String>) -> Self {
        let (name, text) = (name.to_owned(), text.into());
        Self { name, outcome, text, fix: None }
    }

    pub(super) fn ok(name: &str, text: impl Into<String>) -> Self {
        Self::new(name, Outcome::Ok, text)
    }

    pub(super) fn warning(name: &str, text: impl Into<String>) -> Self {
        Self::new(name, Outcome::Warning, text)
    }

    pub(super) fn fault(name: &str, text: impl Into<String>) -> Self {
        Self::new(name, Outcome::Fault, text)
    }

    pub(super) fn fix(mut self, command: impl Into<String>) -> Self {
        self.fix = Some(command.into());
        self
    }
}

/// The worst there is.
pub(super) fn worst(checks: &[Check]) -> Outcome {
    checks.iter().map(|it| it.outcome).max().unwrap_or(Outcome::Ok)
}

/// For people: a line each, and what mends it beneath.
pub(super) fn print(checks: &[Check], out: &mut dyn Write) -> io::Result<()> {
    let widest = checks.iter().map(|it| it.name.len()).max().unwrap_or(0);
    for Check { name, outcome, text, fix } in checks {
        writeln!(out, "{:7}  {name:widest$}  {text}", outcome.as_str())?;
        if let Some(fix) = fix {
            writeln!(out, "{:9}{:widest$}  mend it: {fix}", "", "")?;
        }
    }
    let count = |outcome: Outcome| {
        checks.iter().filter(|it| it.outcome == outcome).count()
    };
    match (count(Outcome::Fault), count(Outcome::Warning)) {
        (0, 0) => writeln!(out, "all is well"),
        (0, warnings) => {
            writeln!(out, "this node can run; warnings: {warnings}")
        }
        (faults, warnings) => {
            writeln!(out, "faults: {faults}, warnings: {warnings}")
        }
    }
}

/// For programs: one document.
pub(super) fn as_json(checks: &[Check]) -> serde_json::Value {
    let outcome = worst(checks);
    serde_json::json!({ "outcome": outcome, "checks": checks })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks() -> Vec<Check> {
        vec![
            Check::ok("user", "running as root"),
            Check::warning("daemon", "the daemon does not run")
                .fix("systemctl start ovnode"),
            Check::fault("image function", "`ovnode/function:1` is not there")
                .fix("ovnode images build function"),
        ]
    }

    #[test]
    fn each_finding_is_a_line_with_its_remedy_beneath() {
        let mut out = Vec::new();
        print(&checks(), &mut out).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap());
    }

    #[test]
    fn programs_get_one_document() {
        insta::assert_json_snapshot!(as_json(&checks()));
    }
}
