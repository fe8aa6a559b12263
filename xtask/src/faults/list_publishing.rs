//! The faults of publishing in PostgreSQL, and of telling relays of it.

use super::{
    Fault,
    catcher::{Catcher, some_tests},
};

/// Some tests of the log, by the beginning of their names.
const fn some(which: &'static str) -> Catcher {
    some_tests("posthaste-postgres", which)
}

/// All of them.
pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "postgres-one-event-with-columns-exchanged",
        breaks: "an event that is published by itself is stored otherwise than one of many",
        file: "logs/postgres/parts/insert_one.sql",
        find: "$12::text, $13::text,",
        replace: "$13::text, $12::text,",
        caught_by: &[some("--test postgres -- publishing::one_event")],
    },
    Fault {
        name: "postgres-every-event-is-asked-for",
        breaks: "the database tells of each event where it is, though nobody needs it, at the cost of publishing",
        file: "crates/posthaste/src/outbox.rs",
        find: "(event.id == stamp.id, self.inner.takes(&event))",
        replace: "(event.id == stamp.id, true)",
        caught_by: &[some_tests("posthaste", "--test postgres -- publishing::asks_where")],
    },
    Fault {
        name: "postgres-ids-of-chance",
        breaks: "each insert by plain SQL changes another page of the index, which after a checkpoint is written as a whole",
        file: "logs/postgres/migrations/0001_outbox.sql",
        find: "default {new_id}()",
        replace: "default gen_random_uuid()",
        caught_by: &[some("--test postgres -- plain_sql::an_event_without_an_id")],
    },
    Fault {
        name: "postgres-an-event-swallowed-in-silence",
        breaks: "an event that a trigger kept out of the table is answered as published (rule 2)",
        file: "logs/postgres/src/writer.rs",
        find: "            1 => Ok(()),",
        replace: "            0 | 1 => Ok(()),",
        caught_by: &[some("--test postgres -- publishing::an_event_that")],
    },
    Fault {
        name: "what-is-in-order-rings-nobody",
        breaks: "of events in order that Posthaste committed itself, its own relay hears only by polling",
        file: "crates/posthaste/src/staged.rs",
        find: "added > self.entries.len()",
        replace: "false",
        caught_by: &[some_tests("posthaste", "--test postgres -- doorbell::what_is_committed")],
    },
    Fault {
        name: "postgres-an-empty-name-is-taken",
        breaks: "an event without a topic or a type is taken, fits no filter, and is passed over without a word",
        file: "logs/postgres/migrations/0001_outbox.sql",
        find: "check (value <> '')",
        replace: "check (value is not null)",
        caught_by: &[some("--test postgres -- plain_sql::")],
    },
    Fault {
        name: "postgres-a-ring-for-each-commit",
        breaks: "every commit of a busy application is told to others by a statement of its own, at the cost of publishing",
        file: "logs/postgres/src/doorbell.rs",
        find: "if traffic.is_busy(Instant::now(), rings) {",
        replace: "if false {",
        caught_by: &[some_tests("posthaste", "--test postgres -- doorbell::")],
    },
    Fault {
        name: "an-application-alone-tells-others",
        breaks: "an application whose relay is the only one has the database tell nobody of each commit, and its relay reads twice",
        file: "crates/posthaste/src/outbox.rs",
        find: "if !self.hot().iter().any(Hot::is_alone) {",
        replace: "if true {",
        caught_by: &[some_tests("posthaste", "--test postgres -- doorbell::an_application")],
    },
    Fault {
        name: "an-application-with-a-relay-tells-nobody",
        breaks: "relays in other processes hear of commits only by polling where the application has a relay of its own",
        file: "crates/posthaste/src/outbox.rs",
        find: "if !self.hot().iter().any(Hot::is_alone) {",
        replace: "if self.hot().is_empty() {",
        caught_by: &[some_tests("posthaste", "--test postgres -- doorbell::relays_of")],
    },
    Fault {
        name: "alone-for-ever",
        breaks: "a relay whose lease may be over still counts as the only one, and others are not told of commits",
        file: "crates/relay/src/shell/pulse.rs",
        find: "alone && self.lease_left().is_some()",
        replace: "alone && self.is_running()",
        caught_by: &[some_tests("posthaste-relay", "--test shell -- sharing::a_relay_knows")],
    },
    Fault {
        name: "postgres-others-that-serve-something-else-are-nobody",
        breaks: "a relay takes itself for the only one although another serves another subscription, which is not told of commits",
        file: "logs/postgres/sql/census.sql",
        find: "(select count(*) from {relays}) = 1",
        replace: "(select count(*) from {relays} r where s.name = any (r.subscriptions)) = 1",
        caught_by: &[some("--test postgres -- conformance::hold")],
    },
];
