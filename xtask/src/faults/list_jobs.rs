//! The faults of what operators ask and start: jobs, searches and counts.

use super::{
    Fault,
    catcher::{Catcher, some_tests},
};

const MEMORY: &[Catcher] = &[some_tests("posthaste-testkit", "--test memory -- jobs::")];
const SQLITE: &[Catcher] = &[some_tests("posthaste-sqlite", "--test sqlite")];

/// Some tests of the log in PostgreSQL, by the beginning of their names.
const fn postgres(which: &'static str) -> Catcher {
    some_tests("posthaste-postgres", which)
}

/// All of them.
pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "job-in-the-order-of-death",
        breaks: "a job sends the events of a key again in the order in which they died (rule 5)",
        file: "crates/core/src/memory/jobs.rs",
        find: "        letters.sort_by_key(|(id, letter)| place(*id, letter));\n",
        replace: "",
        caught_by: MEMORY,
    },
    Fault {
        name: "sqlite-job-in-the-order-of-death",
        breaks: "a job sends the events of a key again in the order in which they died (rule 5)",
        file: "logs/sqlite/sql/job_batch.sql",
        find: "order by d.position, d.dead_id\n",
        replace: "order by d.dead_id\n",
        caught_by: SQLITE,
    },
    Fault {
        name: "sqlite-job-takes-what-died-later",
        breaks: "a job also takes dead letters that died after it was started",
        file: "logs/sqlite/sql/job_batch.sql",
        find: "  and d.dead_id <= ?13\n",
        replace: "  and ?13 is not null\n",
        caught_by: SQLITE,
    },
    Fault {
        name: "sqlite-job-before-its-time",
        breaks: "a job goes faster than it may",
        file: "logs/sqlite/src/work.rs",
        find: "let pause = self.job.per_second.map(|rate| Duration::from_secs(done) / rate).unwrap_or_default();",
        replace: "let pause = Duration::from_secs(done) / 1_000_000;",
        caught_by: SQLITE,
    },
    Fault {
        name: "search-ends-too-early",
        breaks: "a page that looked at a part of the log does not say where to go on",
        file: "crates/core/src/admin/look.rs",
        find: "Self { behind: edge - 1, before, ended_at: Some(edge) }",
        replace: "Self { behind: edge - 1, before, ended_at: None }",
        caught_by: &[some_tests("posthaste-sqlite", "--test sqlite -- search::")],
    },
    Fault {
        name: "postgres-two-relays-work-on-one-job",
        breaks: "a relay waits for the one that works on a job, and others wait behind it",
        file: "logs/postgres/sql/due_job.sql",
        find: "for update skip locked;",
        replace: "for update;",
        caught_by: &[postgres("--test postgres -- jobs::")],
    },
    Fault {
        name: "postgres-job-takes-what-is-resolved",
        breaks: "a job sends again what somebody has given up meanwhile",
        file: "logs/postgres/sql/job_batch.sql",
        find: "where d.resolution is null\n",
        replace: "where true\n",
        caught_by: &[postgres("--test postgres -- conformance::jobs")],
    },
    Fault {
        name: "postgres-refused-batch-half-done",
        breaks: "a batch that the database refuses takes the end of its job with it",
        file: "logs/postgres/src/admin/act.rs",
        find: "\"rollback to savepoint attempt\"",
        replace: "\"release savepoint attempt\"",
        caught_by: &[postgres("--test postgres -- jobs::")],
    },
    Fault {
        name: "postgres-delayed-event-blocks-its-key",
        breaks: "an event is told to wait for a reminder of its key that is not due",
        file: "logs/postgres/sql/statuses.sql",
        find: "and p.due_at <= coalesce($3, statement_timestamp()) and",
        replace: "and",
        caught_by: &[postgres("--test postgres -- conformance::search")],
    },
    Fault {
        name: "postgres-last-minute-is-all-of-time",
        breaks: "the deliveries of the last minute are those of all lines",
        file: "logs/postgres/sql/status_minute.sql",
        find: "l.at < (select since.at from since) as before",
        replace: "false as before",
        caught_by: &[postgres("--test postgres -- conformance::overview")],
    },
];
