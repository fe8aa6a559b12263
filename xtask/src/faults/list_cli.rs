//! The faults of the command line: what operators are promised before, while and after they act.

use super::{
    Fault,
    catcher::{Catcher, some_tests},
};

/// Some tests of the program, by the beginning of their names.
const fn program(which: &'static str) -> Catcher {
    some_tests("posthaste-cli", which)
}

/// All of them.
pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "cli-publishes-what-is-good",
        breaks: "lines of which one is wrong are published all the same, without it",
        file: "crates/cli/src/publish/input.rs",
        find: "if problems.is_empty() { Ok(events) }",
        replace: "if problems.is_empty() || !events.is_empty() { Ok(events) }",
        caught_by: &[program("--test program -- publish::")],
    },
    Fault {
        name: "cli-misses-late-commits",
        breaks: "tail does not show an event whose transaction commits after a later one's",
        file: "crates/cli/src/tail/follow.rs",
        find: "if is_gap || !known.is_over {",
        replace: "if (is_gap && false) || !known.is_over {",
        caught_by: &[program("--bin posthaste -- follow::")],
    },
    Fault {
        name: "cli-replays-the-others",
        breaks: "dead letters are replayed although one that was named is resolved already",
        file: "crates/cli/src/dlq/resolve.rs",
        find: "    check_waiting(&desk, &options.ids, now).await?;\n",
        replace: "    _ = check_waiting(&desk, &options.ids, now).await;\n",
        caught_by: &[program("--test program -- dlq::")],
    },
    Fault {
        name: "cli-leaves-it-paused",
        breaks: "a subscription stays paused after a reset",
        file: "crates/cli/src/subscriptions/idle.rs",
        find: "if !was_paused && !is_gone {",
        replace: "if was_paused && !is_gone {",
        caught_by: &[program("--test program -- subscriptions::")],
    },
    Fault {
        name: "cli-does-not-ask",
        breaks: "many dead letters are given up without a question",
        file: "crates/cli/src/dlq/resolve.rs",
        find: "const MANY: u64 = 100;",
        replace: "const MANY: u64 = 1_000;",
        caught_by: &[program("--test program -- dlq::")],
    },
    Fault {
        name: "cli-dry-run-acts",
        breaks: "a dry run of a reset resets",
        file: "crates/cli/src/subscriptions/idle.rs",
        find: "        if self.dry_run {\n",
        replace: "        if self.dry_run && foreseen.again > 6 {\n",
        caught_by: &[program("--test program -- subscriptions::")],
    },
    Fault {
        name: "cli-goes-on-after-a-no",
        breaks: "a subscription is dropped although a person said no",
        file: "crates/cli/src/subscriptions/idle.rs",
        find: "            && !confirm(&question)?\n",
        replace: "            && !(confirm(&question)? || !question.is_empty())\n",
        caught_by: &[program("--test program -- asking::a_subscription")],
    },
    Fault {
        name: "cli-a-no-is-a-success",
        breaks: "a script cannot tell that a person said no",
        file: "crates/cli/src/dlq/resolve.rs",
        find: "        return Ok(End::Bad);\n",
        replace: "        return Ok(End::Fine);\n",
        caught_by: &[program("--test program -- asking::many")],
    },
    Fault {
        name: "cli-heeds-no-failed-editor",
        breaks: "an editor that failed counts as one that changed nothing",
        file: "crates/cli/src/dlq/editor.rs",
        find: "if !ended.success() {",
        replace: "if !ended.success() && false {",
        caught_by: &[program("--test program -- asking::an_editor")],
    },
    Fault {
        name: "cli-colours-nobody-wants",
        breaks: "NO_COLOR is not heeded",
        file: "crates/cli/src/screen/mod.rs",
        find: "if io::stdout().is_terminal() && colours_are_wanted() {",
        replace: "if io::stdout().is_terminal() {",
        caught_by: &[program("--test program -- asking::colours")],
    },
    Fault {
        name: "cli-bar-in-a-file",
        breaks: "progress is drawn into a file",
        file: "crates/cli/src/screen/progress.rs",
        find: "is_live: io::stderr().is_terminal() && can_move,",
        replace: "is_live: can_move,",
        caught_by: &[program("--test program -- asking::a_bar")],
    },
    Fault {
        name: "sqlite-only-the-latest-jobs",
        breaks: "only the jobs that the status tells of are found by their numbers",
        file: "logs/sqlite/sql/find_job.sql",
        find: "where job_id = ?1;",
        replace: "where job_id = ?1\n  and job_id > (select max(job_id) - 50 from \"{prefix}_jobs\");",
        caught_by: &[some_tests("posthaste-sqlite", "--test sqlite -- any_job")],
    },
    Fault {
        name: "cli-complains-about-head",
        breaks: "a reader that has seen enough makes the program fail",
        file: "crates/cli/src/screen/mod.rs",
        find: "error.kind() == ErrorKind::BrokenPipe)",
        replace: "error.kind() == ErrorKind::NotFound)",
        caught_by: &[program("--test program -- tools::")],
    },
    Fault {
        name: "cli-table-too-wide",
        breaks: "a table does not fit the terminal",
        file: "crates/cli/src/screen/table.rs",
        find: "widths[widest] -= 1;",
        replace: "break;",
        caught_by: &[program("--bin posthaste -- table::")],
    },
    Fault {
        name: "cli-file-not-read-again",
        breaks: "SIGHUP is answered, and what the file says does not count",
        file: "crates/cli/src/relay/tune.rs",
        find: "if let Err(error) = self.tune(&self.of_file(&new)) {",
        replace: "if let Err(error) = self.tune(&self.of_file(&old)) {",
        caught_by: &[program("--test program -- tuned::a_file_that_is_read_again")],
    },
    Fault {
        name: "postgres-doctor-misses-indexes",
        breaks: "an index that is missing or not valid is not told",
        file: "logs/postgres/sql/diagnose_indexes.sql",
        find: "where not coalesce(i.indisvalid and i.indisready, false)",
        replace: "where false",
        caught_by: &[program("--test program -- doctor::")],
    },
    Fault {
        name: "postgres-doctor-misses-rights",
        breaks: "a right that a relay lacks is not told",
        file: "logs/postgres/sql/diagnose_rights.sql",
        find: "where not has_table_privilege(r.name, r.wanted)",
        replace: "where has_table_privilege(r.name, r.wanted) is null",
        caught_by: &[program("--test program -- doctor::")],
    },
];
