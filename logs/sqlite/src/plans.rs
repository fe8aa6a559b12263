//! How SQLite carries the statements out: each by an index, whatever the tables hold.

use std::time::Duration;

use posthaste_core::{Lease, Log, RelayId, Subscription};
use sqlx::{ConnectOptions, Connection, Row, SqliteConnection, sqlite::SqliteConnectOptions};

use crate::{
    SqliteLog, SqliteOptions,
    migrate::migrate,
    slot::Slot,
    statements::{Prefix, Statements},
};

/// What may be read from end to end: lists that are bound or made on the way, and tables with a row for each subscription,
/// relay or job, or for each index of the file, or fewer.
const SMALL: [&str; 28] = [
    "CONSTANT ROW",
    "act",
    "asked",
    "dead VIRTUAL",
    "e",
    "failed",
    "g",
    "going",
    "held_lanes",
    "json_each",
    "known",
    "lanes",
    "old",
    "outbox_jobs",
    "outbox_relays",
    "parked_lanes",
    "passed",
    "poison",
    "r",
    "s",
    "search",
    "served",
    "sqlite_schema",
    "sqlite_sequence",
    "sqlite_stat1",
    "sqlite_stat4",
    "trouble",
    "writer",
];

/// Statements that relays or publishers run all the time.
const HOT: [&str; 34] = [
    "append_lines",
    "bury",
    "census",
    "count_jobs",
    "doorbell",
    "draw_versions",
    "enrol",
    "expire_relays",
    "find_duplicate",
    "find_ids",
    "find_lines",
    "find_statistics",
    "find_subscription",
    "forget_samples",
    "forget_statistics",
    "has_statistics",
    "journal_dead",
    "journal_delivered",
    "journal_failed",
    "keep_as_stored",
    "last_position",
    "leave",
    "park",
    "prune_dead",
    "prune_events",
    "prune_jobs",
    "prune_journal",
    "prune_lines",
    "publish",
    "read",
    "read_parked",
    "renew",
    "set_paused",
    "unpark",
];

/// Statements that people wait for, or that relays run for them.
const AWAITED: [&str; 28] = [
    "advance_job",
    "ahead",
    "audit",
    "cancel_job",
    "dead_letters",
    "dead_looked",
    "dead_span",
    "due_job",
    "edge_dead",
    "edge_parked",
    "extent",
    "find_dead",
    "find_event",
    "find_job",
    "foresee_again",
    "foresee_skipped",
    "job_batch",
    "journal_of",
    "list_dead",
    "list_log",
    "list_oldest",
    "list_parked",
    "list_word",
    "position_at",
    "status_lanes",
    "status_minute",
    "statuses",
    "summaries",
];

/// What a plan calls the tables that grow.
const LARGE: [&str; 12] = [
    "o",
    "d",
    "p",
    "l",
    "first",
    "last",
    "low",
    "middle",
    "outbox",
    "outbox_dead",
    "outbox_parked",
    "outbox_journal",
];

#[tokio::test]
async fn what_people_wait_for_is_found_by_indexes() {
    let folder = tempfile::tempdir().unwrap();
    let (mut connection, statements) = tables(&folder).await;
    let prefix = Prefix::new("outbox").unwrap();
    let mut seen = Vec::new();

    for (name, sql) in statements.all().into_iter().filter(|(name, _)| AWAITED.contains(name)) {
        seen.push(name);
        let steps = plan(&mut connection, &prefix, sql.as_str()).await;
        let reads_all = |step: &&String| {
            step.strip_prefix("SCAN ").is_some_and(|what| LARGE.iter().any(|large| is_named(what, large)))
        };
        let bad: Vec<_> = steps.iter().filter(reads_all).collect();
        assert!(bad.is_empty(), "{name} reads a whole table: {bad:?} in\n{}", steps.join("\n"));
    }

    assert_eq!(seen, AWAITED, "each of them is a statement");
}

#[tokio::test]
async fn what_is_counted_is_counted_in_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let (mut connection, statements) = tables(&folder).await;
    let prefix = Prefix::new("outbox").unwrap();
    let cases = [
        (&statements.dead_groups, "d USING COVERING INDEX outbox_dead_groups"),
        (&statements.count_dead, "d USING COVERING INDEX outbox_dead_groups"),
        (&statements.status_subscriptions, "p USING COVERING INDEX outbox_parked_key (subscription=?)"),
        (&statements.status_subscriptions, "d USING COVERING INDEX outbox_dead_waiting (subscription=?)"),
        (&statements.status_subscriptions, "d USING COVERING INDEX outbox_dead_moved (moved_at>?)"),
        (&statements.audit, "outbox_journal USING INDEX outbox_journal_acts (journal_id<?)"),
        (&statements.job_batch, "d USING INDEX outbox_dead_order (position>?)"),
        (&statements.dead_span, "outbox_dead USING COVERING INDEX outbox_dead_moved (moved_at>?)"),
        (&statements.dead_span, "outbox_dead USING COVERING INDEX outbox_dead_moved (moved_at<?)"),
    ];

    for (sql, expected) in cases {
        let steps = plan(&mut connection, &prefix, sql.as_str()).await.join("\n");
        assert!(steps.contains(expected), "{expected} in\n{steps}");
    }
}

async fn tables(folder: &tempfile::TempDir) -> (SqliteConnection, Statements) {
    let options =
        SqliteConnectOptions::new().filename(folder.path().join("plans.db")).create_if_missing(true);
    let prefix = Prefix::new("outbox").unwrap();
    let slot = Slot::new(options.clone(), Duration::from_secs(5));
    let mut connection = slot.take().await.unwrap();
    migrate(&mut connection, &prefix, 64).await.unwrap();
    let mut connection = options.connect().await.unwrap();
    // So that the tables are there in which statistics are kept. There is nothing to count in this one.
    sqlx::query("analyze inbox").execute(&mut connection).await.unwrap();
    (connection, Statements::new(&prefix))
}

async fn plan(connection: &mut SqliteConnection, prefix: &Prefix, sql: &str) -> Vec<String> {
    let rows = sqlx::query(prefix.sql(&format!("explain query plan {sql}"))).fetch_all(connection).await;
    rows.unwrap_or_else(|error| panic!("{error}: {sql}")).iter().map(|row| row.get(3)).collect()
}

#[tokio::test]
async fn hot_statements_use_indexes() {
    let folder = tempfile::tempdir().unwrap();
    let (mut connection, statements) = tables(&folder).await;
    let prefix = Prefix::new("outbox").unwrap();
    let mut seen = Vec::new();

    for (name, sql) in statements.all() {
        let steps = plan(&mut connection, &prefix, sql.as_str()).await;
        if !HOT.contains(&name) {
            continue;
        }
        seen.push(name);
        for step in steps {
            let small = step
                .strip_prefix("SCAN ")
                .is_none_or(|what| what.starts_with('(') || SMALL.iter().any(|small| is_named(what, small)));
            assert!(small, "{name} reads a whole table: {step}");
            assert!(!step.contains("AUTOMATIC") || name == "prune_events", "{name} lacks an index: {step}");
        }
    }

    seen.sort_unstable();
    assert_eq!(seen, HOT, "each of them is a statement");
    connection.close().await.unwrap();
}

fn is_named(what: &str, name: &str) -> bool {
    what == name || what.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '))
}

#[tokio::test]
async fn a_page_is_one_walk_along_the_positions() {
    let folder = tempfile::tempdir().unwrap();
    let (mut connection, statements) = tables(&folder).await;
    let prefix = Prefix::new("outbox").unwrap();

    let steps = plan(&mut connection, &prefix, statements.read.as_str()).await.join("\n");

    for expected in [
        "SEARCH o USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
        "outbox_parked_key (subscription=? AND lane=? AND key=? AND delayed=?)",
        "outbox_parked_key (subscription=? AND lane=? AND key=? AND delayed=? AND due_at<?)",
        "outbox_dead_holds (subscription=? AND lane=? AND key=? AND position<?)",
    ] {
        assert!(steps.contains(expected), "{expected} in\n{steps}");
    }
    assert!(!steps.contains("ORDER BY"), "positions come in order by themselves\n{steps}");
}

/// Statements that applications run on connections of their own.
const PUBLISHING: [&str; 4] = ["draw_versions", "find_duplicate", "find_ids", "publish"];

/// Ways to make SQLite believe that the tables are small: how many rows each has, and how they are counted.
const SMALL_TABLES: [(u32, &str); 6] = [
    (0, "analyze"),
    (1, "analyze"),
    (2, "analyze"),
    (5, "pragma optimize = 0x10002"),
    (20, "analyze"),
    (1_000, "analyze"),
];

/// As many rows more in each table that grows, of one subscription.
async fn grow(connection: &mut SqliteConnection, rows: u32) {
    let sql = "
        create temp table n as with recursive n(i) as (values (1) union all select i + 1 from n where i < ?1) select i from n where i <= ?1;
        insert into outbox (topic, event_type, key, payload, idempotency_key) select 't', 'e', i % 3, '1', random() from n;
        insert into outbox_parked (subscription, position, lane, id, key, event_type, event_version, topic, content_type,
          occurred_at, checked, payload, attempts, due_at, delayed, last_error)
          select 'billing', position, lane, id, key, 'e', '1', 't', 'x', 1, 1, '1', 1, 1, 0, 'refused'
          from outbox where true on conflict do nothing;
        insert into outbox_dead (subscription, position, lane, id, key, event_type, event_version, topic, content_type,
          occurred_at, checked, payload, reason, error, attempts, holds, moved_at)
          select 'billing', position, lane, id, key, 'e', '1', 't', 'x', 1, 1, '1', 'poison_message', 'broken', 1, 1, 1
          from outbox;
        insert into outbox_journal (at, what, subscription, position, done_by) select 1, 'failed', 'billing', i, 'a' from n;
        insert into outbox_lines (subscription, lane, n, kind, cursor, at)
          select 'billing', i % 64, 2 + i / 64, 'settled', i, 1 from n where true on conflict do nothing;
        insert into outbox_relays select 'r' || random(), 'h', 'v', '[]', 1, 1 from n where i < 3;
        insert into outbox_sequences select 'order', random(), 1 from n;
        drop table n;";
    for statement in sql.split(';').map(str::trim).filter(|statement| !statement.is_empty()) {
        let query = sqlx::query(sqlx::AssertSqlSafe(statement.to_owned()));
        let query = if statement.contains("?1") { query.bind(rows) } else { query };
        query.execute(&mut *connection).await.unwrap_or_else(|error| panic!("{error}: {statement}"));
    }
}

/// A log whose tables were counted while they were small, and the plans of all statements before that.
async fn counted(
    folder: &tempfile::TempDir,
    (rows, count): (u32, &'static str),
) -> (SqliteLog, Vec<Vec<String>>) {
    let url = format!("sqlite://{}", folder.path().join("counted.db").display());
    let log =
        SqliteLog::open(&url, SqliteOptions { migrate: true, ..SqliteOptions::default() }).await.unwrap();
    log.subscribe(&Subscription::new("billing")).await.unwrap();
    let mut application = log.pool().acquire().await.unwrap();
    sqlx::query("analyze inbox").execute(&mut *application).await.unwrap();
    let before = plans(&mut log.inner().read.take().await.unwrap(), &log).await;
    grow(&mut application, rows).await;
    sqlx::query(count).execute(&mut *application).await.unwrap();
    grow(&mut application, 100).await;
    (log, before)
}

/// How a connection carries out each statement that is hot.
async fn plans(connection: &mut SqliteConnection, log: &SqliteLog) -> Vec<Vec<String>> {
    let prefix = Prefix::new("outbox").unwrap();
    let mut plans = Vec::new();
    for (name, sql) in log.inner().statements.all() {
        if HOT.contains(&name) {
            plans.push([vec![name.to_owned()], plan(connection, &prefix, sql.as_str()).await].concat());
        }
    }
    plans
}

#[tokio::test]
async fn what_was_counted_while_the_tables_were_small_is_forgotten() {
    let mut changed = 0;
    for small in SMALL_TABLES {
        let folder = tempfile::tempdir().unwrap();
        let (log, before) = counted(&folder, small).await;
        let slots = log.inner().slots();
        for slot in slots {
            slot.reopen();
            let mut connection = slot.take().await.unwrap();
            changed += usize::from(plans(&mut connection, &log).await != before);
            connection.put_back();
        }

        let lease = Lease {
            relay: RelayId("a".to_owned()),
            host: String::new(),
            version: String::new(),
            subscriptions: vec!["billing".to_owned()],
            time: Duration::from_secs(15),
            first: true,
        };
        log.hold(&lease).await.unwrap();

        for slot in slots {
            assert_eq!(plans(&mut slot.take().await.unwrap(), &log).await, before, "{small:?}");
        }
    }
    assert!(changed > 10, "the statistics made a difference to {changed} connections");
}

#[tokio::test]
async fn publishers_find_by_key_whatever_was_counted() {
    for small in SMALL_TABLES {
        let folder = tempfile::tempdir().unwrap();
        let (log, before) = counted(&folder, small).await;
        let mut connection = log.connect_options().connect().await.unwrap();

        let after = plans(&mut connection, &log).await;

        for (after, before) in after.iter().zip(&before).filter(|(plan, _)| PUBLISHING.contains(&&*plan[0])) {
            assert_eq!(after, before, "{small:?}");
        }
    }
}
