//! The faults of the server: who gets in, what is shown, what is said of what is wrong, and what readiness and alerts are worth.

use super::{
    Fault,
    catcher::{Catcher, some_tests},
};

const GUARD: &str = "crates/server/src/guard.rs";
const INPUT: &str = "crates/server/src/input/mod.rs";
const PROBLEM: &str = "crates/server/src/problem.rs";

/// Some tests of the server, by the beginning of their names.
const fn server(which: &'static str) -> Catcher {
    some_tests("posthaste-server", which)
}

/// All of them. Those that show without a server come first: they are built together.
pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "server-token-by-its-beginning",
        breaks: "a token gets in whose hash only begins as that of another",
        file: "crates/server/src/token.rs",
        find: "let fits = token.hash.0.ct_eq(&given.0);",
        replace: "let fits = token.hash.0[..31].ct_eq(&given.0[..31]);",
        caught_by: &[server("--lib -- token::")],
    },
    Fault {
        name: "server-guesses-without-end",
        breaks: "wrong tokens may be sent as fast as one can",
        file: "crates/server/src/lockout.rs",
        find: "(failed.times > MOST).then(",
        replace: "(failed.times == u32::MAX).then(",
        caught_by: &[server("--lib -- lockout::")],
    },
    Fault {
        name: "server-takes-another-zone-for-utc",
        breaks: "an hour lies between what a caller means and what is done",
        file: "crates/server/src/time.rs",
        find: "if bare.contains(['Z', '+']) {",
        replace: "if bare.contains('Z') {",
        caught_by: &[server("--lib -- time::")],
    },
    Fault {
        name: "server-cursor-of-another-listing",
        breaks: "the cursor of one listing means something else in another",
        file: "crates/server/src/cursor.rs",
        find: "(*mark == listing.mark() && row > 0)",
        replace: "(*mark != 0 && row > 0)",
        caught_by: &[server("--lib -- cursor::")],
    },
    Fault {
        name: "server-ready-while-the-process-runs",
        breaks: "a relay is ready although a subscription with work stands still",
        file: "crates/server/src/health/mod.rs",
        find: "const READINESS: [&str; 4] = [\"publisher\", \"lease\", \"database\", \"progress\"];",
        replace: "const READINESS: [&str; 3] = [\"publisher\", \"lease\", \"database\"];",
        caught_by: &[server("--lib -- health::")],
    },
    Fault {
        name: "server-unknown-parameter-ignored",
        breaks: "a misspelt filter is taken for none",
        file: INPUT,
        find: "for name in self.fields.keys().filter(|name| !asked.contains(&name.as_str())) {",
        replace: "for name in self.fields.keys().filter(|name| name.is_empty() && !asked.contains(&name.as_str())) {",
        caught_by: &[server("--lib -- input::")],
    },
    Fault {
        name: "server-statement-told",
        breaks: "what only the operators of the database should know is told to callers",
        file: PROBLEM,
        find: "Self::new(StatusCode::INTERNAL_SERVER_ERROR, name, \"the log of the server says why\")",
        replace: "Self::new(StatusCode::INTERNAL_SERVER_ERROR, name, error.to_string())",
        caught_by: &[server("--lib -- problem::")],
    },
    Fault {
        name: "server-alerts-without-end",
        breaks: "what comes and goes is told each time",
        file: "crates/server/src/alert/watch.rs",
        find: "self.at.is_none_or(|at| now.duration_since(at) >= quiet)",
        replace: "self.at.is_none_or(|at| now.duration_since(at) <= quiet)",
        caught_by: &[server("--lib -- alert::")],
    },
    Fault {
        name: "server-viewer-acts",
        breaks: "who may only look changes things",
        file: GUARD,
        find: "if !reads && who.role != Role::Operator {",
        replace: "if !reads && who.role != Role::Operator && *request.method() != Method::POST {",
        caught_by: &[server("--test server -- closed::viewers")],
    },
    Fault {
        name: "server-other-sites-act",
        breaks: "another site makes the browser of an operator act",
        file: GUARD,
        find: "if foreign && !reads {",
        replace: "if foreign && reads {",
        caught_by: &[server("--test server -- closed::names")],
    },
    Fault {
        name: "server-only-the-first-problem",
        breaks: "of all that is wrong with a request only the first is told",
        file: PROBLEM,
        find: "errors.truncate(MOST_ERRORS);",
        replace: "errors.truncate(1);",
        caught_by: &[server("--test server -- bad_input::what_is_wrong")],
    },
    Fault {
        name: "server-shows-what-is-hidden",
        breaks: "a dead letter shows a field of its payload that is to be hidden",
        file: "crates/server/src/api/dead_letters.rs",
        find: "let Shown { text, redacted } = redaction.show(letter.payload);",
        replace: "let Shown { redacted, .. } = redaction.show(letter.payload.clone());\n        let text = letter.payload;",
        caught_by: &[server("--test server -- events::what_is_hidden")],
    },
    Fault {
        name: "server-act-in-nobodys-name",
        breaks: "the journal does not know who acted",
        file: "crates/server/src/api/subscriptions.rs",
        find: "let concerned = app.admin()?.act(&act, &who.name).await?;",
        replace: "let concerned = app.admin()?.act(&act, \"server\").await?;",
        caught_by: &[server("--test server -- acting::dead_letters")],
    },
    Fault {
        name: "server-fails-on-a-zero-byte",
        breaks: "a text that no database takes gets as far as the database",
        file: "crates/server/src/input/value.rs",
        find: "(1..=LONGEST).contains(&text.chars().count()) && !text.contains('\\0')",
        replace: "(1..=LONGEST).contains(&text.chars().count())",
        caught_by: &[server("--test server -- agreeing::")],
    },
    Fault {
        name: "server-undocumented-status",
        breaks: "an operation answers with a status that the document does not have there",
        file: "crates/server/src/api/keys.rs",
        find: "return Err(Problem::not_found(format!(",
        replace: "return Err(Problem::refused(format!(",
        caught_by: &[server("--test server -- fuzz::")],
    },
    Fault {
        name: "server-answer-unlike-the-document",
        breaks: "an operation answers with another body than the document says",
        file: "crates/server/src/api/jobs.rs",
        find: "operation_id = \"list_jobs\", responses((status = 200, body = Jobs))",
        replace: "operation_id = \"list_jobs\", responses((status = 200, body = JobView))",
        caught_by: &[server("--test server -- fuzz::")],
    },
];
