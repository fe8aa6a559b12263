//! The faults of SQLite's statements: each changes one `.sql` file, and the conformance suite must notice.

use super::{
    Fault,
    catcher::{Catcher, some_tests},
};

const SUITE: &[Catcher] = &[some_tests("posthaste-sqlite", "--test sqlite")];

/// All faults of the log in SQLite.
pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "sqlite-line-without-predecessor",
        breaks: "a line goes in although the one before it is not there (rule 4)",
        file: "logs/sqlite/sql/append_lines.sql",
        find: "before.lane = act.lane and before.n = act.n - 1",
        replace: "before.lane = act.lane and before.n = (select max(n) from \"{prefix}_lines\" m where m.subscription = writer.subscription and m.lane = act.lane)",
        caught_by: SUITE,
    },
    Fault {
        name: "sqlite-line-number-not-checked",
        breaks: "a line that is there is overwritten by whoever comes late (rule 4)",
        file: "logs/sqlite/sql/append_lines.sql",
        find: "on conflict (subscription, lane, n) do nothing;",
        replace: "on conflict (subscription, lane, n) do update set cursor = excluded.cursor, relay = excluded.relay;",
        caught_by: SUITE,
    },
    Fault {
        name: "sqlite-late-renewal-crosses-a-take-over",
        breaks: "a relay whose row was removed gets it back (rule 3)",
        file: "logs/sqlite/sql/expire_relays.sql",
        find: "where held_until < ?2",
        replace: "where held_until < ?2 - 3600000000",
        caught_by: SUITE,
    },
    Fault {
        name: "sqlite-position-used-twice",
        breaks: "after pruning a position is handed out again (rule 2)",
        file: "logs/sqlite/migrations/0001_outbox.sql",
        find: "  position integer primary key autoincrement,",
        replace: "  position integer primary key,",
        caught_by: SUITE,
    },
    Fault {
        name: "sqlite-pruned-while-a-subscription-lags",
        breaks: "an event goes that one subscription has not passed (rule 2)",
        file: "logs/sqlite/sql/prune_events.sql",
        find: "select lanes.lane, min(coalesce((",
        replace: "select lanes.lane, max(coalesce((",
        caught_by: SUITE,
    },
    Fault {
        name: "sqlite-pruned-while-parked",
        breaks: "an event goes that waits for a retry (rule 2)",
        file: "logs/sqlite/sql/prune_events.sql",
        find: "p.subscription = s.name and p.position = o.position)",
        replace: "p.subscription = s.name and p.position = o.position and p.position < 0)",
        caught_by: SUITE,
    },
    Fault {
        name: "sqlite-parked-key-not-blocked",
        breaks: "an event is not known to be behind a parked one of its key (rule 5)",
        file: "logs/sqlite/sql/read.sql",
        find: "p.key = o.key and p.delayed = 0",
        replace: "p.key = o.key and p.delayed = 2",
        caught_by: SUITE,
    },
    Fault {
        name: "sqlite-due-instant-missed",
        breaks: "what is due exactly now waits for another read",
        file: "logs/sqlite/sql/read_parked.sql",
        find: "    and p.due_at <= +?2\n    and p.position < s.position",
        replace: "    and p.due_at < +?2\n    and p.position < s.position",
        caught_by: SUITE,
    },
    Fault {
        name: "sqlite-follower-goes-before-its-head",
        breaks: "a parked follower overtakes its head, which waits for a retry (rule 5)",
        file: "logs/sqlite/sql/read_parked.sql",
        find: "min(case when p.delayed = 0 and p.due_at > +?2 then p.position end)",
        replace: "min(case when p.delayed = 2 and p.due_at > +?2 then p.position end)",
        caught_by: SUITE,
    },
    Fault {
        name: "sqlite-follower-parked-anew",
        breaks: "an event that is parked already loses its attempts when it waits behind another",
        file: "logs/sqlite/sql/park.sql",
        find: "where excluded.last_error is not null;",
        replace: "where true;",
        caught_by: SUITE,
    },
    Fault {
        name: "sqlite-first-line-missing",
        breaks: "a lane of a new subscription has no first line (rule 2)",
        file: "logs/sqlite/sql/first_lines.sql",
        find: "select lane + 1 from lanes where lane + 1 < ?2",
        replace: "select lane + 1 from lanes where lane + 2 < ?2",
        caught_by: SUITE,
    },
    Fault {
        name: "sqlite-reset-under-a-live-holder",
        breaks: "a cursor is moved although a relay holds the lane (rule 4)",
        file: "logs/sqlite/sql/holders.sql",
        find: "  and r.held_until >= ?2",
        replace: "  and r.held_until < ?2",
        caught_by: SUITE,
    },
];
