//! The pages in `docs/` lead where they say, and the commands in them exist.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Pages and files that tell people what to type.
const WITH_COMMANDS: [&str; 9] = [
    "README.md",
    "docs/quick-start.md",
    "docs/operations.md",
    "docs/security.md",
    "docs/postgres.md",
    "docs/plain-sql.md",
    "deploy/compose.yaml",
    "deploy/posthaste.service",
    "deploy/kubernetes/secret.example.yaml",
];
const PROGRAM: &str = "posthaste";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// All pages of the documentation, from the root.
fn pages() -> Vec<PathBuf> {
    let of = |folder: &str| fs::read_dir(root().join(folder)).unwrap().map(|item| item.unwrap().path());
    let pages = of("docs").chain(of("docs/decisions"));
    pages.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The relative links of a page, without what is behind `#`.
fn links(page: &str) -> Vec<&str> {
    let links = page.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link);
    links.filter(|link| !link.contains("://")).filter_map(|link| link.split('#').next()).collect()
}

#[test]
fn every_page_is_in_the_index_and_no_link_is_broken() {
    let index = read("docs/README.md");
    let pages = pages();
    let mut problems = Vec::new();
    for page in pages.iter().chain(&[root().join("README.md"), root().join("ARCHITECTURE.md")]) {
        let text = fs::read_to_string(page).unwrap();
        let broken = links(&text).into_iter().filter(|link| !page.parent().unwrap().join(link).exists());
        problems.extend(broken.map(|link| format!("{}: {link} does not exist", page.display())));
    }
    for page in pages.iter().map(|page| page.strip_prefix(root().join("docs")).unwrap().to_str().unwrap()) {
        if page != "README.md" && !links(&index).contains(&page) {
            problems.push(format!("docs/README.md does not name {page}"));
        }
    }

    assert!(pages.len() > 10, "{pages:?}");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// A command line as a page has it: its words, without the program.
fn commands(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().map(|line| line.split_once(" # ").map_or(line, |(before, _)| before));
    let pieces = lines.flat_map(|line| line.trim_start_matches(['#', ' ']).split(['`', '|', '>', '<']));
    let words = pieces
        .map(|piece| piece.split([' ', '(', ')', '=']).filter(|word| !word.is_empty()).collect::<Vec<_>>());
    let commands = words.filter_map(|mut words| {
        let is_one = words.first() == Some(&PROGRAM) && words.len() > 1 && !words[1].starts_with("--");
        is_one.then(|| words.split_off(1))
    });
    commands.collect()
}

/// What the reference says of the command that these words begin with.
fn section<'r>(reference: &'r str, words: &[&str]) -> Option<&'r str> {
    let of = |count: usize| {
        let heading = format!("\n## {PROGRAM} {}\n", words.get(..count)?.join(" "));
        let rest = &reference[reference.find(&heading)? + heading.len()..];
        Some(rest.split("\n## ").next().unwrap_or(rest))
    };
    of(2).or_else(|| of(1))
}

#[test]
fn every_command_in_the_documentation_exists_with_its_options() {
    let reference = read("docs/cli.md");
    let mut problems = Vec::new();
    let mut checked = 0;
    for page in WITH_COMMANDS {
        for words in commands(&read(page)) {
            checked += 1;
            let Some(section) = section(&reference, &words) else {
                problems.push(format!("{page}: there is no `{PROGRAM} {}`", words.join(" ")));
                continue;
            };
            let options = words.iter().filter(|word| word.starts_with("--"));
            let unknown = options.filter(|option| !section.contains(&format!("| `{option}")));
            problems.extend(unknown.map(|option| format!("{page}: {option} of `{}`", words.join(" "))));
        }
    }

    assert!(checked > 50, "only {checked} commands were found");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn finds_links_and_commands() {
    assert_eq!(links("[a](b.md#c) [d](https://e) [f](#g)"), ["b.md", ""]);
    let page = "Run `posthaste dlq list --all`.\n#   posthaste doctor --config a  # why\nposthaste is\nx posthaste y";
    assert_eq!(commands(page), [vec!["dlq", "list", "--all"], vec!["doctor", "--config", "a"], vec!["is"]]);
}
