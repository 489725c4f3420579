use super::raw::{Item, Raw, Table};
use super::{ConfigFault, Origin};

const PREFIX: &str = "OVNODE_";

/// Lays `OVNODE_SECTION__KEY=value` over the tree of the file.
///
/// The variable's value is kept as text: what its key wants decides how it
/// is read (a list is separated by commas). Variables with the prefix but
/// without a double underscore are somebody else's.
pub(super) fn overlay(
    table: &mut Table,
    vars: &[(String, String)],
) -> Vec<ConfigFault> {
    vars.iter()
        .filter_map(|(name, value)| {
            let path = name.strip_prefix(PREFIX)?;
            if !path.contains("__") {
                return None;
            }
            let path = path.to_ascii_lowercase();
            let keys: Vec<&str> = path.split("__").collect();
            let item = Item {
                raw: Raw::Env(value.clone()),
                origin: Origin::Env(name.as_str().into()),
            };
            put(table, &keys, item).err()
        })
        .collect()
}

fn put(
    table: &mut Table,
    keys: &[&str],
    item: Item,
) -> Result<(), ConfigFault> {
    let [key, rest @ ..] = keys else { return Ok(()) };
    if rest.is_empty() {
        table.insert((*key).to_owned(), item);
        return Ok(());
    }
    let under = table.entry((*key).to_owned()).or_insert_with(|| Item {
        raw: Raw::Table(Table::new()),
        origin: item.origin.clone(),
    });
    if let Raw::Table(inner) = &mut under.raw {
        return put(inner, rest, item);
    }
    let noun = under.raw.noun();
    Err(ConfigFault {
        origin: item.origin,
        key: keys.join("."),
        message: format!("cannot be set by a variable: `{key}` is {noun}"),
    })
}

/// Variables that look like a key written with too few underscores; left
/// alone they would be ignored without a word.
pub(super) fn near_misses(
    vars: &[(String, String)],
    keys: &[String],
) -> Vec<ConfigFault> {
    let names: Vec<String> = keys.iter().map(|key| variable(key)).collect();
    let flat = |name: &str| name.replace('_', "");
    vars.iter()
        .filter(|(name, _)| !name.contains("__"))
        .filter_map(|(name, _)| {
            name.strip_prefix(PREFIX)?;
            let meant = names.iter().find(|n| flat(n) == flat(name))?;
            Some(ConfigFault {
                origin: Origin::Env(name.as_str().into()),
                key: String::new(),
                message: format!("is not read: did you mean `{meant}`?"),
            })
        })
        .collect()
}

/// The variable of a dotted key.
pub(super) fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "__").to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vars(name: &str) -> Vec<(String, String)> {
        vec![(name.to_owned(), "x".to_owned())]
    }

    #[test]
    fn a_variable_makes_the_tables_on_its_way() {
        let mut table = Table::new();
        assert!(overlay(&mut table, &vars("OVNODE_NATS__TLS__CA")).is_empty());
        let Raw::Table(nats) = &table["nats"].raw else { panic!() };
        let Raw::Table(tls) = &nats["tls"].raw else { panic!() };
        assert_eq!(tls["ca"].raw, Raw::Env("x".to_owned()));
    }

    #[test]
    fn a_single_underscore_is_told_and_strangers_are_not() {
        let keys = ["nats.servers".to_owned()];
        let faults = near_misses(&vars("OVNODE_NATS_SERVERS"), &keys);
        assert!(faults[0].message.contains("OVNODE_NATS__SERVERS"));
        assert!(near_misses(&vars("OVNODE_PORT"), &keys).is_empty());
    }
}
