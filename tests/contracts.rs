//! The contracts, read as an independent validator of their JSON schemas
//! reads them.
use ovnode::contract::{CONTRACTS, ReasonCode, validate};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One line of a corpus: `{"contract": …, "valid": …, "doc": …}`. The
/// document is cut out as text, for how its numbers are written counts.
fn check_line(line: &str) -> Result<(), String> {
    let corpus: serde_json::Value =
        serde_json::from_str(line).expect("a corpus holds JSON");
    let name = corpus["contract"].as_str().expect("a contract");
    let valid = corpus["valid"].as_bool().expect("a verdict");
    let (_, doc) = line.split_once("\"doc\": ").expect("a document");
    let doc = doc.trim_end().strip_suffix('}').expect("an object");
    match (validate(name, doc), valid) {
        (Ok(()), true) => Ok(()),
        (Err(faults), false) if !faults.0.is_empty() => Ok(()),
        (found, _) => Err(format!("{found:?}: {line}")),
    }
}

fn check_corpus(path: &Path) {
    let corpus = fs::read_to_string(path).expect("a readable corpus");
    let wrong: Vec<_> =
        corpus.lines().filter_map(|line| check_line(line).err()).collect();
    assert!(
        wrong.is_empty(),
        "{} disagreements\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The platform's own corpus and fixtures, where they lie beside this
/// repository.
fn platform() -> Option<PathBuf> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/contracts");
    path.is_dir().then_some(path)
}

#[test]
fn the_kept_documents_are_judged_as_their_schemas_say() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR"));
    check_corpus(&kept.join("tests/data/contracts.jsonl"));
}

#[test]
fn the_platforms_corpus_is_judged_as_its_schemas_say() {
    if let Some(platform) = platform() {
        check_corpus(&platform.join("corpus.jsonl"));
    }
}

#[test]
fn the_platforms_fixtures_are_judged_as_they_are_filed() {
    let Some(platform) = platform() else { return };
    let mut seen = 0;
    for contract in CONTRACTS {
        for (folder, valid) in [("valid", true), ("rejected", false)] {
            let at = platform.join("fixtures").join(contract).join(folder);
            for file in at.read_dir().into_iter().flatten() {
                let path = file.expect("an entry").path();
                let doc = fs::read_to_string(&path).expect("a fixture");
                let found = validate(contract, &doc);
                assert_eq!(found.is_ok(), valid, "{path:?}: {found:?}");
                seen += 1;
            }
        }
    }
    assert!(seen > 0, "there are fixtures");
}

#[test]
fn every_command_that_operators_are_told_of_is_there() {
    for page in ["README.md", "docs/reasons.md", "docs/ARCHITECTURE.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        let page = fs::read_to_string(path).expect("a page");
        for told in page.split("`ovnode ").skip(1) {
            let words = told.split(['`', ' ', '\n']).take(1);
            let asked = Command::new(env!("CARGO_BIN_EXE_ovnode"))
                .args(words.chain(["--help"]))
                .output()
                .expect("ovnode runs");
            assert!(asked.status.success(), "{told:.40}");
        }
    }
}

#[test]
fn every_reason_is_explained_to_operators_and_no_other_is() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reasons.md");
    let page = fs::read_to_string(path).expect("docs/reasons.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let explained: Vec<_> = rows
        .map(|row| {
            let cells: Vec<_> = row.split(" | ").collect();
            assert_eq!(cells.len(), 3, "code, meaning, what to do: {row}");
            cells[0].trim_end_matches('`').to_owned()
        })
        .collect();
    assert_eq!(explained, ReasonCode::WORDS);
}
