//! The faults of the configuration: what is refused, what is said of it and where, what is never shown, and what counts.

use super::{
    Fault,
    catcher::{Catcher, some_tests},
};

const CHANGES: &str = "crates/config/src/changes.rs";
const SECTION: &str = "crates/config/src/section.rs";

/// Some tests of the configuration, by the beginning of their names.
const fn config(which: &'static str) -> Catcher {
    some_tests("posthaste-config", which)
}

/// All of them.
pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "config-unknown-key-ignored",
        breaks: "a misspelt key is taken for none, and its default counts",
        file: SECTION,
        find: "for entry in self.entries.iter().filter(|entry| !asked.contains(&entry.key.as_str())) {",
        replace: "for entry in self.entries.iter().filter(|entry| !asked.contains(&entry.key.as_str())).take(0) {",
        caught_by: &[config("--test config -- bad::")],
    },
    Fault {
        name: "config-value-of-a-variable-shown",
        breaks: "what came out of a variable is shown if it is wrong, and it may be a secret",
        file: SECTION,
        find: "kind.show_text(written)",
        replace: "kind.show_text(&text)",
        caught_by: &[config("--test config -- secrets::")],
    },
    Fault {
        name: "config-only-the-first-problem",
        breaks: "of all that is wrong with a file only the first is said",
        file: "crates/config/src/lib.rs",
        find: "_ => Err(Problems::new(all)),",
        replace: "_ => Err(Problems::new(all.into_iter().take(1).collect())),",
        caught_by: &[config("--test config -- bad::everything")],
    },
    Fault {
        name: "config-next-line-blamed",
        breaks: "a problem names the line behind its own",
        file: "crates/config/src/tree.rs",
        find: "Entry { key: key.value.clone(), place: Place::Line(key.referenced.line()), node: node(value, text) }",
        replace: "Entry { key: key.value.clone(), place: Place::Line(key.referenced.line() + 1), node: node(value, text) }",
        caught_by: &[config("--test config -- bad::everything")],
    },
    Fault {
        name: "config-password-shown",
        breaks: "the address of a database is shown with its password",
        file: "crates/config/src/secret.rs",
        find: "Some((user, _)) => format!(\"{user}:{VEIL}\"),",
        replace: "Some((user, password)) => format!(\"{user}:{password}\"),",
        caught_by: &[config("--test config -- secrets::")],
    },
    Fault {
        name: "config-variable-names-a-file",
        breaks: "who sets a variable makes the relay read any file",
        file: "crates/config/src/environment.rs",
        find: "if written.starts_with(FILE) {",
        replace: "if expanded.starts_with(FILE) {",
        caught_by: &[config("--lib -- environment::")],
    },
    Fault {
        name: "config-file-over-variable",
        breaks: "what the file says counts more than what a variable says",
        file: "crates/config/src/overrides.rs",
        find: "        *node = new;\n",
        replace: "        if matches!(node.value, Value::Nothing) {\n            *node = new;\n        }\n",
        caught_by: &[config("--test config -- overrides::")],
    },
    Fault {
        name: "config-reachable-without-tokens",
        breaks: "a server that others can reach needs no token",
        file: "crates/config/src/server.rs",
        find: "if !server.listen.ip().is_loopback() && server.tokens.is_empty() && section.is_fine() {",
        replace: "if server.listen.ip().is_multicast() && server.tokens.is_empty() && section.is_fine() {",
        caught_by: &[config("--test config -- server::")],
    },
    Fault {
        name: "config-limit-not-taken-over",
        breaks: "a rate limit of a file that is read again is told to count, and is forgotten",
        file: CHANGES,
        find: "(served.rate_limit, served.paused) = (new.rate_limit, new.paused);",
        replace: "served.paused = new.paused;",
        caught_by: &[config("--test config -- changes::")],
    },
    Fault {
        name: "config-restart-not-told",
        breaks: "what counts only after a restart is told to count at once",
        file: CHANGES,
        find: "HOT.contains(&field.key().path.as_str())",
        replace: "HOT.contains(&field.key().path.as_str()) || field.path.to_string() == \"relay.lease\"",
        caught_by: &[config("--test config -- changes::")],
    },
];
