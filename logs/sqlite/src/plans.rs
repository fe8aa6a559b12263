//! How SQLite carries the statements out: each by an index, whatever the tables hold.

use sqlx::{ConnectOptions, Connection, Row, SqliteConnection, sqlite::SqliteConnectOptions};

use crate::{
    migrate::migrate,
    slot::Slot,
    statements::{Prefix, Statements},
};

/// What may be read from end to end: lists that are bound or made on the way, and tables with a row for each subscription or
/// relay, or fewer.
const SMALL: [&str; 23] = [
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
    "outbox_relays",
    "parked_lanes",
    "passed",
    "r",
    "s",
    "search",
    "served",
    "sqlite_sequence",
    "trouble",
    "writer",
];

/// Statements that relays or publishers run all the time.
const HOT: [&str; 27] = [
    "append_lines",
    "bury",
    "census",
    "doorbell",
    "draw_versions",
    "enrol",
    "expire_relays",
    "find_duplicate",
    "find_ids",
    "find_lines",
    "find_subscription",
    "journal_dead",
    "journal_delivered",
    "journal_failed",
    "last_position",
    "leave",
    "park",
    "prune_dead",
    "prune_events",
    "prune_journal",
    "prune_lines",
    "publish",
    "read",
    "read_parked",
    "renew",
    "set_paused",
    "unpark",
];

async fn tables(folder: &tempfile::TempDir) -> (SqliteConnection, Statements) {
    let options =
        SqliteConnectOptions::new().filename(folder.path().join("plans.db")).create_if_missing(true);
    let prefix = Prefix::new("outbox").unwrap();
    let slot = Slot::new(options.clone());
    let mut connection = slot.take().await.unwrap();
    migrate(&mut connection, &prefix, 64).await.unwrap();
    (options.connect().await.unwrap(), Statements::new(&prefix))
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
