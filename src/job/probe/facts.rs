use std::collections::BTreeMap;

/// What the script reported: for each key its values, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts(BTreeMap<String, Vec<String>>);

impl Facts {
    /// Reads a report; lines that are none are left out.
    pub(crate) fn read(report: &str) -> Self {
        let mut facts = BTreeMap::<_, Vec<_>>::new();
        for (key, value) in report.lines().filter_map(|l| l.split_once('=')) {
            let values = facts.entry(key.to_owned()).or_default();
            values.push(value.to_owned());
        }
        Self(facts)
    }

    /// Every value of a key.
    pub(crate) fn all(&self, key: &str) -> &[String] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    /// The only value of a key; of none or several, what to say instead.
    pub(crate) fn one(&self, key: &str) -> Result<&str, String> {
        match self.all(key) {
            [one] => Ok(one),
            [] => Err(format!("the probe could not tell its {key}")),
            more => Err(format!("the probe told {} of {key}", more.len())),
        }
    }

    /// The value that follows `name` and a blank in one of a key's.
    pub(crate) fn named(&self, key: &str, name: &str) -> Option<&str> {
        self.all(key).iter().find_map(|value| {
            value.strip_prefix(name).and_then(|rest| rest.strip_prefix(' '))
        })
    }
}
