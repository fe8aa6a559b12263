//! What the style guide asks of every file, as far as a program can see it.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    path::{Path, PathBuf},
};

const LONGEST_FILE: usize = 400;
const LONGER_BECAUSE: &str = "Longer than 400 lines because";
/// Names that only say "it assists".
const BANNED_NAMES: [&str; 7] = ["common", "helper", "helpers", "manager", "misc", "util", "utils"];
/// Written in two halves, so that this file does not break its own rule.
const BANNED_TEXTS: [&str; 4] =
    [concat!("#[ign", "ore"), concat!("to", "do!("), concat!("unimple", "mented!("), concat!("db", "g!(")];
const SLEEP: &str = concat!("sl", "eep(");
/// The line before a pause that is part of waiting for something says so.
const WAITS_FOR_A_CONDITION: &str = "Waits for a condition";

/// A file of the workspace, with its path from the root.
struct Source {
    path: String,
    text: String,
}

impl Source {
    fn is_for_tests(&self) -> bool {
        let in_tests = self.path.starts_with("tests/") || self.path.contains("/tests/");
        in_tests || self.path.starts_with("crates/testkit/")
    }

    /// The lines with their numbers, from 1.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Where the tests of the file begin: at its first line if it is all tests.
    fn first_line_of_tests(&self) -> usize {
        if self.is_for_tests() {
            return 1;
        }
        self.lines()
            .find(|(_, line)| line.starts_with("#[cfg(test)]"))
            .map_or(usize::MAX, |(number, _)| number)
    }
}

/// All files with this extension, except what is built or hidden.
fn sources(extension: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && !name.starts_with("target") && name != "node_modules" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|found| found == extension) {
                let text = fs::read_to_string(&path).unwrap();
                let path = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
                found.push(Source { path, text });
            }
        }
    }
    found
}

/// Fails with everything that is wrong, in all files at once.
fn check(extension: &str, rule: &str, problems_of: impl Fn(&Source) -> Vec<String>) {
    let sources = sources(extension);
    let problems: Vec<String> = sources
        .iter()
        .flat_map(|source| {
            problems_of(source).into_iter().map(|problem| format!("{}: {problem}", source.path))
        })
        .collect();

    assert!(!sources.is_empty(), "no .{extension} file was found");
    assert!(problems.is_empty(), "{rule}\n{}", problems.join("\n"));
}

#[test]
fn no_file_is_longer_than_400_lines_without_a_reason() {
    let rule = format!("split the file, or write \"{LONGER_BECAUSE} …\" in its first 15 lines");
    check("rs", &rule, |source| {
        let lines = source.text.lines().count();
        let excused = source.text.lines().take(15).any(|line| line.contains(LONGER_BECAUSE));
        if lines > LONGEST_FILE && !excused { vec![format!("{lines} lines")] } else { Vec::new() }
    });
}

#[test]
fn every_source_begins_with_what_it_is() {
    check("rs", "a source begins with a comment that says what it is and why", |source| {
        begins_with("//!", source)
    });
}

#[test]
fn every_statement_begins_with_what_must_hold() {
    check("sql", "a statement begins with a comment that says what must hold", |source| {
        begins_with("--", source)
    });
}

fn begins_with(opening: &str, source: &Source) -> Vec<String> {
    if source.text.starts_with(opening) {
        Vec::new()
    } else {
        vec![format!("does not begin with `{opening}`")]
    }
}

#[test]
fn nothing_is_left_unfinished_or_ignored() {
    check("rs", "finish it, or take it out", |source| {
        let has_one = |line: &str| BANNED_TEXTS.iter().any(|text| line.contains(text));
        source
            .lines()
            .filter(|(_, line)| has_one(line))
            .map(|(number, line)| format!("{number}: {line}"))
            .collect()
    });
}

#[test]
fn no_test_sleeps() {
    let rule = format!(
        "move the clock, or wait on a condition with a deadline and write \"// {WAITS_FOR_A_CONDITION}.\" above the pause"
    );
    check("rs", &rule, |source| {
        // The proof is no test: its pauses are the chance in what it does.
        let begin =
            if source.path.starts_with("tests/prove/") { usize::MAX } else { source.first_line_of_tests() };
        let lines: Vec<_> = source.lines().collect();
        let sleeps = |index: usize| {
            let excused = index > 0 && lines[index - 1].1.contains(WAITS_FOR_A_CONDITION);
            lines[index].0 >= begin && lines[index].1.contains(SLEEP) && !excused
        };
        (0..lines.len())
            .filter(|index| sleeps(*index))
            .map(|index| format!("{}: {}", lines[index].0, lines[index].1))
            .collect()
    });
}

#[test]
fn no_name_says_only_that_it_assists() {
    check("rs", "name it after what it does", |source| {
        let path = source.path.trim_end_matches(".rs").split('/');
        let modules = source.text.lines().filter_map(module_name);
        path.chain(modules)
            .filter(|name| BANNED_NAMES.contains(name))
            .map(|name| format!("is or has `{name}`"))
            .collect()
    });
}

/// The name that a line such as `pub(crate) mod name {` declares.
fn module_name(line: &str) -> Option<&str> {
    let words: Vec<_> = line.trim_start().split([' ', ';']).collect();
    let at = words.iter().position(|word| *word == "mod").filter(|at| *at < 2)?;
    words.get(at + 1).copied()
}

#[test]
fn finds_the_names_of_modules() {
    for (line, name) in [
        ("mod a;", Some("a")),
        ("    pub(crate) mod b {", Some("b")),
        ("pub mod c;", Some("c")),
        ("/// in this mod we", None),
        ("let mod_x = 1;", None),
    ] {
        assert_eq!(module_name(line), name, "{line}");
    }
}
