//! `docs/pitfalls.md` is true as far as a program can see it: every test and fault that it names exists, and no number
//! is missing or told twice.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// How many there are in each section.
const SECTIONS: [(char, u32); 8] =
    [('L', 32), ('D', 30), ('O', 19), ('S', 35), ('B', 28), ('X', 8), ('C', 11), ('U', 19)];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn page() -> String {
    fs::read_to_string(root().join("docs/pitfalls.md")).unwrap()
}

/// All sources of the workspace, in one text.
fn sources() -> String {
    let mut text = String::new();
    let folders = ["crates", "examples", "logs", "sinks", "tests", "xtask"];
    let mut folders: Vec<PathBuf> = folders.map(|name| root().join(name)).into();
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text.push_str(&fs::read_to_string(&path).unwrap());
            }
        }
    }
    text
}

/// What stands in backticks behind this mark.
fn named<'p>(page: &'p str, mark: &str) -> BTreeSet<&'p str> {
    let words = page.split('`').skip(1).step_by(2);
    words.filter_map(|word| word.strip_prefix(mark)).filter(|name| *name != "NAME").collect()
}

/// The names of all tests, and of all cases that the conformance suite makes tests of.
fn tests_of(sources: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut marked = false;
    for line in sources.lines().map(str::trim) {
        let name = line.split_once("fn ").and_then(|(_, rest)| rest.split_once(['(', '<']));
        match name {
            Some((name, rest)) if marked || rest.starts_with("S: Subject>") => {
                found.insert(name);
                marked = false;
            }
            Some(_) => marked = false,
            // Other attributes may stand between the mark and the function.
            None => marked = line.starts_with("#[") && (marked || line.contains("test")),
        }
    }
    found
}

#[test]
fn every_test_and_fault_that_is_named_exists() {
    let (page, sources) = (page(), sources());
    let there_are = tests_of(&sources);

    let (tests, faults) = (named(&page, "test:"), named(&page, "fault:"));
    let lost_tests: Vec<_> = tests.iter().filter(|name| !there_are.contains(*name)).collect();
    let lost_faults: Vec<_> =
        faults.iter().filter(|name| !sources.contains(&format!("name: \"{name}\""))).collect();

    assert!(tests.len() > 100 && faults.len() > 20, "they are found: {} and {}", tests.len(), faults.len());
    assert!(lost_tests.is_empty(), "no test is called {lost_tests:#?}");
    assert!(lost_faults.is_empty(), "no fault is called {lost_faults:#?}");
}

#[test]
fn every_number_is_told_once() {
    let page = page();
    let (tables, later) = page.split_once("## Not applicable yet").unwrap();
    let rows = tables.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
    let mut told: BTreeMap<&str, u32> = BTreeMap::new();
    for id in rows.map(|(id, _)| id).chain(later.split_whitespace()).filter(|word| is_id(word)) {
        *told.entry(id).or_default() += 1;
    }

    for (section, last) in SECTIONS {
        for number in 1..=last {
            let id = format!("{section}{number}");
            assert_eq!(told.remove(id.as_str()), Some(1), "{id} stands in the page once");
        }
    }
    assert!(told.is_empty(), "unknown: {told:?}");
}

#[test]
fn every_row_gives_a_reason() {
    let page = page();
    let rows = page.lines().filter(|line| line.strip_prefix("| ").is_some_and(|row| is_id(&row[..2])));
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        assert!(cells.len() == 3 && cells.iter().all(|cell| !cell.trim().is_empty()), "{row}");
    }
}

/// What the comments of tests call a pitfall is one.
#[test]
fn comments_name_pitfalls_that_there_are() {
    let (page, sources) = (page(), sources());
    let comments = sources
        .lines()
        .map(str::trim)
        .filter_map(|line| line.strip_prefix("// pitfalls ").or_else(|| line.strip_prefix("// pitfall ")));
    for comment in comments {
        let ids = comment.split(':').next().unwrap_or_default().split(", ");
        for id in ids {
            let known =
                page.contains(&format!("\n| {id} |")) || page.split_whitespace().any(|word| word == id);
            assert!(is_id(id) && known, "{comment:?} names {id:?}");
        }
    }
}

/// A letter of a section, then digits.
fn is_id(word: &str) -> bool {
    let mut chars = word.chars();
    let section = chars.next().is_some_and(|first| SECTIONS.iter().any(|(letter, _)| *letter == first));
    section && !chars.as_str().is_empty() && chars.all(|c| c.is_ascii_digit())
}
