//! The reference of the command line, `docs/cli.md`: made of what clap knows, so that it cannot differ from the program.

use std::fmt::Write;

use clap::{Arg, Command, CommandFactory};

use crate::Program;

const TITLE: &str = "\
# The command line

Made of the program's own help by `crates/cli/src/reference.rs`, and checked by a test: do not edit it by hand, but write
`POSTHASTE_BLESS=1 cargo test -p posthaste-cli reference`.

- `--database URL` says which database, or `--config FILE`, the file of a relay, or the variable `POSTHASTE_DATABASE`. Passwords are never shown.
- `--json` answers programs: one JSON object a line, times in RFC 3339, the names of fields as in the [API](api.md). What is beside the answer
  (progress, \"there is more\") is on standard error.
- Colours, questions and progress bars are for terminals only; `NO_COLOR=1` takes the colours away. Tables fit the terminal, or `COLUMNS`.
- Times are written in UTC, such as `2026-03-01T12:00:00Z` or `2026-03-01`, or as how long ago, such as `90m` or `2d`.
- Acts are written into the audit with the name of the user, or with `--by NAME`.
- A reader that has seen enough (`| head`) ends a command quietly.

| exit code | meaning |
|---|---|
| 0 | it was done |
| 1 | it failed: the database does not answer, there is nothing of that name or number, a job failed, `doctor` found something failing, a person said no |
| 2 | the command line, a configuration or the input was not understood; nothing was done |
| 3 | refused: what is asked is not possible as things are (a dead letter that is resolved already, lanes that are not given back); for `relay --config`, a database that refuses, where waiting does not help |
";

/// The whole page.
fn page() -> String {
    let mut program = Program::command().term_width(0);
    program.build();
    let mut page = String::from(TITLE);
    page.push_str("\n| command | |\n|---|---|\n");
    for (path, command) in leaves(&program, "posthaste") {
        _ = writeln!(page, "| [`{path}`](#{}) | {} |", path.replace(' ', "-"), about(command));
    }
    for (path, command) in leaves(&program, "posthaste") {
        page.push_str(&section(&path, command));
    }
    page
}

/// All commands that do something, by their names.
fn leaves<'c>(command: &'c Command, path: &str) -> Vec<(String, &'c Command)> {
    let mut found = Vec::new();
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        let path = format!("{path} {}", below.get_name());
        let inner = leaves(below, &path);
        // One that does something by itself as well is there besides what is below it.
        if inner.is_empty() || !below.is_subcommand_required_set() {
            found.push((path, below));
        }
        found.extend(inner);
    }
    found
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn section(path: &str, command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let mut text = format!("\n## {path}\n\n{}.\n\n```text\n{usage}\n```\n", about(command));
    let shown = |argument: &&Arg| {
        !argument.is_hide_set() && !matches!(argument.get_id().as_str(), "help" | "version" | "log")
    };
    let arguments: Vec<&Arg> = command.get_arguments().filter(shown).collect();
    if !arguments.is_empty() {
        text.push_str("\n| option | meaning |\n|---|---|\n");
    }
    for argument in arguments {
        _ = writeln!(text, "| `{}` | {} |", name(argument), meaning(argument));
    }
    if let Some(examples) = command.get_after_help() {
        _ = write!(text, "\n```text\n{}\n```\n", examples.to_string().trim_end());
    }
    text
}

fn name(argument: &Arg) -> String {
    let value = argument.get_value_names().and_then(|names| names.first()).map(|name| format!("<{name}>"));
    let value = value.filter(|_| argument.get_action().takes_values());
    match (argument.get_long(), value) {
        (Some(long), Some(value)) => format!("--{long} {value}"),
        (Some(long), None) => format!("--{long}"),
        (None, value) => value.unwrap_or_default(),
    }
}

fn meaning(argument: &Arg) -> String {
    let text = argument
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default()
        .replace('\n', " ")
        .replace('|', "\\|");
    let defaults: Vec<String> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    match defaults.as_slice() {
        [default] if argument.get_action().takes_values() => format!("{text} (default: `{default}`)"),
        _ => text,
    }
}

#[test]
fn the_page_is_made_of_the_program() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
    let page = page();
    if std::env::var("POSTHASTE_BLESS").is_ok_and(|value| value == "1") {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == page, "docs/cli.md is not what the program says; POSTHASTE_BLESS=1 writes it");
}

#[test]
fn every_command_has_an_example_of_itself() {
    let program = Program::command();
    for (path, command) in leaves(&program, "posthaste") {
        let group = path.split(' ').nth(1).and_then(|name| program.find_subcommand(name));
        let help_of =
            |command: &Command| command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let help = if help_of(command).is_empty() {
            group.map(help_of).unwrap_or_default()
        } else {
            help_of(command)
        };
        assert!(help.contains(&path), "{path} has an example, itself or where it is listed");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{path}: its help is not too wide");
        assert!(!about(command).ends_with('.'), "{path}");
    }
}
