//! `docs/configuration.md` has every key, as the program has it.

use std::collections::HashMap;

use posthaste_config::{Config, Key, keys};

use crate::fixture::Made;

/// The rows of all tables whose first column is a key.
fn documented() -> Vec<Key> {
    let text = include_str!("../../../../docs/configuration.md");
    let cell = |cell: &str| cell.trim().replace('`', "").replace("\\|", "|");
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| {
        let cells: Vec<String> = line.trim_matches('|').split(" | ").map(cell).collect();
        let [path, kind, default, allowed, meaning] = cells.as_slice() else { panic!("5 cells: {line}") };
        assert!(!meaning.is_empty(), "{path} has no meaning");
        Key { path: path.clone(), kind: kind.clone(), default: default.clone(), allowed: allowed.clone() }
    })
    .collect()
}

#[test]
fn every_key_is_documented_with_its_type_default_and_what_is_allowed() {
    let (documented, keys) = (documented(), keys());
    let row = |key: &Key| format!("| `{}` | {} | {} | {} |", key.path, key.kind, key.default, key.allowed);
    let missing: Vec<String> = keys.iter().filter(|key| !documented.contains(key)).map(row).collect();
    let wrong: Vec<String> = documented.iter().filter(|key| !keys.contains(key)).map(row).collect();

    assert!(keys.len() > 50, "the program does not know its keys: {keys:?}");
    assert!(
        missing.is_empty() && wrong.is_empty(),
        "docs/configuration.md lacks\n{}\nand should not have\n{}",
        missing.join("\n"),
        wrong.join("\n")
    );
}

#[test]
fn the_files_in_the_documentation_pass_the_check() {
    let made = Made(HashMap::from([("DB_PASSWORD", "hunter2")]));
    for text in [include_str!("../../../../docs/configuration.md"), include_str!("../../../../README.md")] {
        let (_, rest) = text.split_once("```yaml\n").unwrap();
        let (file, _) = rest.split_once("```").unwrap();
        let config = Config::parse(file, &made).unwrap();
        assert_eq!(config.subscriptions.len(), 2, "{file}");
    }
}
