//! The house keeps its shape: imports go down only, each fenced crate is
//! named in its room alone, files stay short, documents name real paths.

#![expect(clippy::unwrap_used, reason = "a test ends where it is surprised")]

use std::fs;
use std::path::{Path, PathBuf};

/// Rooms by floor. A room imports only from floors below its own.
const FLOORS: [(&str, u8); 12] = [
    ("contract", 0),
    ("init", 0),
    ("capacity", 1),
    ("ledger", 1),
    ("engine", 1),
    ("link", 1),
    ("control", 1),
    ("job", 2),
    ("offer", 2),
    ("node", 3),
    ("cli", 4),
    ("lib", 5),
];

/// Crates that only some rooms may name, and those rooms.
const FENCES: [(&str, &[&str]); 12] = [
    ("sysinfo", &["capacity"]),
    ("nvml_wrapper", &["capacity"]),
    ("bollard", &["engine"]),
    ("async_nats", &["link"]),
    ("nkeys", &["link"]),
    ("axum", &["control"]),
    ("hyper", &["control"]),
    ("toml", &["node"]),
    ("sd_notify", &["node"]),
    ("ulid", &["node"]),
    ("clap", &["cli"]),
    ("command_fds", &["bin"]),
];

const LONGEST: usize = 400;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The room a file of `src/` belongs to.
fn room(file: &Path) -> String {
    let inside = file.strip_prefix(root().join("src")).unwrap();
    let first = inside.iter().next().unwrap().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

fn floor(room: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == room).map(|(_, floor)| *floor)
}

/// The code of a file without its comments.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let bare = text.lines().map(|line| match line.find("//") {
        Some(at) if !line[..at].ends_with(':') => &line[..at],
        _ => line,
    });
    bare.collect::<Vec<_>>().join("\n")
}

/// Every word that follows `before` in `text`, where `before` itself does
/// not continue a longer word.
fn words_after<'a>(text: &'a str, before: &str) -> Vec<&'a str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(before)
        .filter(|(at, _)| !text[..*at].ends_with(is_word))
        .map(|(at, _)| {
            let rest = &text[at + before.len()..];
            &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())]
        })
        .collect()
}

fn sources() -> Vec<(PathBuf, String, String)> {
    rust_files(&root().join("src"))
        .into_iter()
        .map(|file| {
            let (room, code) = (room(&file), code(&file));
            (file, room, code)
        })
        .collect()
}

#[test]
fn imports_go_down_only() {
    let mut faults = Vec::new();
    for (file, room, code) in sources() {
        if room == "main" || room == "lib" || room == "bin" {
            continue;
        }
        let Some(own) = floor(&room) else {
            faults.push(format!("{}: no such room", file.display()));
            continue;
        };
        if code.contains("crate::{") || code.contains("super::super::") {
            faults.push(format!("{}: hides an import", file.display()));
        }
        for other in words_after(&code, "crate::") {
            let Some(theirs) = floor(other) else { continue };
            if other != room && theirs >= own {
                let file = file.display();
                faults.push(format!("{file}: {room} imports {other}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn pid_1_names_the_init_room_only() {
    for (file, room, code) in sources() {
        if room == "bin" && file.iter().any(|part| part == "ovnode-init") {
            let named = words_after(&code, "ovnode::");
            let strange = named.iter().find(|name| **name != "init");
            assert_eq!(strange, None, "in {}", file.display());
        }
    }
}

#[test]
fn fenced_crates_are_named_in_their_rooms_alone() {
    let mut faults = Vec::new();
    for (file, room, code) in sources() {
        for (fenced, rooms) in FENCES {
            let used = words_after(&code, &format!("{fenced}::"));
            if !used.is_empty() && !rooms.contains(&room.as_str()) {
                faults.push(format!("{}: names {fenced}", file.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_lowest_floor_has_no_runtime_and_no_clock() {
    for (file, room, code) in sources() {
        if floor(&room) == Some(0) {
            for word in ["tokio::", "std::fs", "std::net", "Instant::now"] {
                assert!(!code.contains(word), "{}: {word}", file.display());
            }
        }
    }
}

#[test]
fn files_are_short() {
    let folders = ["src", "tests", "benches", "examples"];
    let long: Vec<String> = folders
        .iter()
        .map(|folder| root().join(folder))
        .filter(|folder| folder.exists())
        .flat_map(|folder| rust_files(&folder))
        .filter_map(|file| {
            let lines = fs::read_to_string(&file).unwrap().lines().count();
            let name = file.strip_prefix(root()).unwrap().display();
            (lines > LONGEST).then(|| format!("{name}: {lines} lines"))
        })
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn the_architecture_page_is_short_and_names_real_paths() {
    let page = fs::read_to_string(root().join("docs/ARCHITECTURE.md"))
        .expect("docs/ARCHITECTURE.md is there");
    assert!(page.lines().count() <= 150, "it has grown past 150 lines");
    let roots = ["src/", "tests/", "docs/", "benches/", "workers/", "systemd/"];
    let missing: Vec<&str> = page
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| roots.iter().any(|root| word.starts_with(root)))
        .filter(|path| !path.contains('<') && !root().join(path).exists())
        .collect();
    assert!(missing.is_empty(), "no such paths: {missing:?}");
}
