//! How PostgreSQL carries the statements out: each by an index, whether the tables are empty or full, and whatever the statistics say.

use std::time::{Duration, Instant};

use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection, Row};

use crate::{
    options::{PostgresOptions, Purpose, Source},
    statements::{Place, Statements},
};

/// Tables that grow. What reads one of them without a condition reads everything there is.
const LARGE: [&str; 6] =
    ["outbox", "outbox_lines", "outbox_parked", "outbox_dead", "outbox_journal", "outbox_snapshots"];

/// Statements that relays run all the time: right in every state, also as planned when nothing was there.
const HOT: [&str; 22] = [
    "append_lines",
    "batch",
    "batch_late",
    "bury",
    "census",
    "enrol",
    "expire_relays",
    "find_lines",
    "incarnate",
    "leave",
    "open",
    "park",
    "prune_dead",
    "prune_events",
    "prune_journal",
    "prune_lines",
    "prune_snapshots",
    "read_parked",
    "renew",
    "standing",
    "take_snapshot",
    "unpark",
];

/// Statements that people wait for. They are planned each time, so that they are right as planned on what is there.
const AWAITED: [&str; 39] = [
    "ahead",
    "audit",
    "clear_parked",
    "create_subscription",
    "dead_letters",
    "dead_span",
    "edge_dead",
    "edge_parked",
    "edit",
    "extent",
    "find_dead",
    "find_event",
    "find_subscription",
    "first_lines",
    "foresee_again",
    "foresee_dead",
    "foresee_skipped",
    "holders",
    "job_batch",
    "journal_of",
    "journal_resolved",
    "keep_snapshot",
    "list_dead",
    "list_log",
    "list_oldest",
    "list_parked",
    "list_pending",
    "list_word",
    "passing_line",
    "position_at",
    "replay",
    "reset_lines",
    "reset_parked",
    "resolve",
    "select_dead",
    "status_lanes",
    "status_minute",
    "status_subscriptions",
    "statuses",
];

/// Statements of pages that count, or list what is bounded otherwise; and what has to be part of their plans.
const COUNTED: [(&str, &str); 9] = [
    ("count_dead", "Index Only Scan using outbox_dead_groups on outbox_dead"),
    ("dead_groups", "Index Only Scan using outbox_dead_groups on outbox_dead"),
    ("latest_jobs", "Limit"),
    ("orphaned_parked", "Limit"),
    ("status_log", "Index Only Scan using outbox_pkey on outbox"),
    ("status_subscriptions", "Index Only Scan using outbox_dead_waiting on outbox_dead"),
    ("status_subscriptions", "Index Only Scan Backward using outbox_dead_moved on outbox_dead"),
    ("status_subscriptions", "Index Only Scan using outbox_parked_key on outbox_parked"),
    ("summaries", "Index Scan using outbox_pkey on outbox event"),
];

/// Statements on connections of the application's, which have their own settings.
const PUBLISHING: [&str; 6] =
    ["draw_versions", "find_duplicates", "find_ids", "publish", "publish_one", "publish_one_and_ask"];

/// The types of parameters that the driver says. Every other type follows from the statement.
const SAID: [(&str, usize, &str); 6] = [
    ("batch", 9, "bigint"),
    ("batch_late", 9, "bigint"),
    ("open", 4, "bigint"),
    ("open", 7, "text"),
    ("read_parked", 5, "bigint"),
    ("standing", 4, "bigint"),
];

/// The types of a statement's parameters as `prepare` wants them.
fn types(name: &str, parameters: usize) -> String {
    let said = |number| SAID.iter().find(|said| said.0 == name && said.1 == number);
    let types: Vec<&str> =
        (1..=parameters).map(|number| said(number).map_or("unknown", |said| said.2)).collect();
    if types.is_empty() { String::new() } else { format!("({})", types.join(", ")) }
}

/// Tables of their own, and a connection with the settings that the log's have.
struct Bench {
    connection: PgConnection,
    schema: String,
}

impl Bench {
    async fn new(name: &str, purpose: Purpose) -> Self {
        let url = posthaste_services::postgres_url();
        let source = Source::parse(&url, &PostgresOptions::default()).unwrap();
        let mut connection = source.connect_options(purpose).connect().await.unwrap();
        let schema = format!("t_plans_{name}");
        let migrations = crate::migrations(Some(&schema), "outbox", Some(64)).unwrap();
        // Left by a test that failed.
        let made = format!(
            "set client_min_messages = warning; drop schema if exists {schema} cascade; {migrations}"
        );
        sqlx::raw_sql(AssertSqlSafe(made)).execute(&mut connection).await.unwrap();
        let mut bench = Self { connection, schema };
        bench.run(&format!("set search_path = {}", bench.schema)).await;
        // Statistics change when the test says so.
        for table in LARGE {
            bench.run(&format!("alter table {table} set (autovacuum_enabled = off)")).await;
        }
        bench
    }

    async fn run(&mut self, sql: &str) {
        let done = sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut self.connection).await;
        done.unwrap_or_else(|error| panic!("{error}: {sql}"));
    }

    /// Of these tables only: other tests have theirs in the same database.
    async fn gather(&mut self, how: &str) {
        self.run(&format!("{how} outbox_subscriptions, {}", LARGE.join(", "))).await;
    }

    /// Vacuums until nobody's transaction is in the way, and every page is known to be seen by all.
    async fn vacuum(&mut self) {
        let visible = "select bool_and(relallvisible >= relpages) from pg_class where oid = any($1::text[]::regclass[])";
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            self.gather("vacuum analyze").await;
            let seen = sqlx::query_scalar(visible).bind(LARGE.as_slice()).fetch_one(&mut self.connection);
            if seen.await.unwrap() {
                return;
            }
            assert!(Instant::now() < deadline, "somebody holds the rows");
        }
    }

    async fn gone(mut self) {
        self.run(&format!("drop schema {} cascade", self.schema)).await;
        self.connection.close().await.unwrap();
    }

    /// Prepares statements, as the driver does when one is first used.
    async fn prepare(&mut self, wanted: &[&str]) -> Vec<(&'static str, usize)> {
        let statements = Statements::new(&Place::new(Some(&self.schema), "outbox").unwrap());
        let mut prepared = Vec::new();
        for (name, sql) in statements.all() {
            if wanted.contains(&name) {
                let parameters =
                    (1..=20).filter(|number| sql.as_str().contains(&format!("${number}"))).count();
                let types = types(name, parameters);
                self.run(&format!("prepare {name}{types} as {}", sql.as_str())).await;
                prepared.push((name, parameters));
            }
        }
        assert_eq!(prepared.len(), wanted.len(), "each of them is a statement");
        prepared
    }

    /// The plan of a prepared statement, which does not depend on its parameters.
    async fn plan(&mut self, name: &str, parameters: usize) -> Vec<String> {
        let nulls = vec!["null"; parameters].join(", ");
        let nulls = if parameters == 0 { String::new() } else { format!("({nulls})") };
        let sql = AssertSqlSafe(format!("explain (costs off) execute {name}{nulls}"));
        let rows = self.connection.fetch_all(sqlx::raw_sql(sql)).await;
        rows.unwrap_or_else(|error| panic!("{error}: {name}")).iter().map(|row| row.get(0)).collect()
    }

    async fn check(&mut self, prepared: &[(&'static str, usize)], state: &str) {
        let mut wrong = Vec::new();
        for (name, parameters) in prepared {
            let plan = self.plan(name, *parameters).await;
            for (place, line) in plan.iter().enumerate() {
                let Some(table) = scanned(line) else { continue };
                // As many as there were windows in a week: people can wait for that.
                if table == "outbox_snapshots" && AWAITED.contains(name) {
                    continue;
                }
                let next = plan.get(place + 1).map(String::as_str).unwrap_or_default();
                let condition = next.contains("Index Cond:") || next.contains("TID Cond:");
                if !condition || line.contains("Seq Scan") {
                    wrong.push(format!("{name} reads all of {table}:\n{}", plan.join("\n")));
                } else if HOT.contains(name) && reads_a_subscription(&plan, place) {
                    wrong.push(format!(
                        "{name} reads all that a subscription has in {table}:\n{}",
                        plan.join("\n")
                    ));
                }
            }
        }
        assert!(wrong.is_empty(), "{state}:\n{}", wrong.join("\n\n"));
    }

    /// Rows in every table that grows, as years of use would leave them.
    async fn fill(&mut self) {
        self.run(
            "insert into outbox (topic, event_type, key, payload, idempotency_key)
               select 't', 'e', 'k' || i % 1000, '1', i::text from generate_series(1, 50000) i;
             insert into outbox_subscriptions
               (name, filter, event_order, start, started_from, started_to, started_after, generation, first_line)
               values ('billing', '{}', 'key', 'beginning', 0, 0, 0, 1, 1), ('audit', '{}', 'key', 'beginning', 0, 0, 0, 1, 1);
             insert into outbox_snapshots (number, snapshot) select i, pg_current_snapshot() from generate_series(1, 2000) i;
             insert into outbox_lines (subscription, lane, n, kind, relay, from_snapshot, to_snapshot, after_position, at)
               select s.name, lane, n, 'settled', 'r', n, n, n, now()
               from outbox_subscriptions s, generate_series(0, 63) lane, generate_series(1, 300) n;
             insert into outbox_parked (subscription, position, lane, id, key, event_type, event_version, topic, content_type,
               occurred_at, checked, payload, attempts, due_at, delayed)
               select 'billing', position, outbox_lane(key, id), id, key, event_type, event_version, topic, content_type, occurred_at, true,
                 payload, 1, now(), false from outbox where position % 5 = 0;
             insert into outbox_dead (subscription, position, lane, id, key, event_type, event_version, topic, content_type,
               occurred_at, checked, payload, reason, error, attempts, holds, moved_at)
               select 'billing', position, outbox_lane(key, id), id, key, event_type, event_version, topic, content_type, occurred_at, true,
                 payload, 'permanent_failure', 'x', 1, position % 10 = 0, now() from outbox where position % 5 = 1;
             insert into outbox_journal (at, what, subscription, position, done_by)
               select now(), 'failed', 'billing', i, 'r' from generate_series(1, 20000) i;",
        )
        .await;
    }
}

/// The large table that this line of a plan reads.
fn scanned(line: &str) -> Option<&'static str> {
    let (before, table) = line.split_once(" on ")?;
    let reads = before.trim_end().ends_with("Scan")
        || before.contains("Scan using")
        || before.contains("Scan Backward using");
    let table = table.split_whitespace().next()?;
    LARGE.into_iter().find(|large| reads && *large == table)
}

/// Whether the scan in this line of a plan goes through all that one subscription has, as below a merge join, or to look for the lowest
/// position. With more than one condition there would be a second bracket. Whether the subscription has anything at all is an `exists` of
/// its own, right below an InitPlan, which ends at the first row; no statement here gathers rows in one.
fn reads_a_subscription(plan: &[String], place: usize) -> bool {
    let condition = plan.get(place + 1).map(String::as_str).unwrap_or_default();
    let all = condition.contains("Index Cond: (subscription = ");
    let lowest = condition.contains("(position IS NOT NULL)") && !condition.contains("(lane = ");
    lowest || all && !plan[..place].last().is_some_and(|above| above.contains("InitPlan"))
}

#[tokio::test]
async fn plans_made_on_empty_tables_stay_right_while_they_grow() {
    let mut bench = Bench::new("empty", Purpose::Relaying).await;
    let prepared = bench.prepare(&HOT).await;
    bench.check(&prepared, "nothing known").await;
    bench.fill().await;
    bench.check(&prepared, "as planned when nothing was known").await;
    bench.gone().await;
}

#[tokio::test]
async fn plans_made_on_tables_that_are_known_to_be_empty_stay_right_while_they_grow() {
    let mut bench = Bench::new("known", Purpose::Relaying).await;
    bench.gather("analyze").await;
    let prepared = bench.prepare(&HOT).await;
    bench.check(&prepared, "known to be empty").await;
    bench.fill().await;
    bench.check(&prepared, "as planned when it was known to be empty").await;
    bench.gone().await;
}

/// Somebody counted them while everything was under way, or gone. What people wait for is planned again when they are counted again.
#[tokio::test]
async fn what_relays_run_is_right_where_pages_are_known_and_no_rows() {
    let mut bench = Bench::new("pages", Purpose::Relaying).await;
    bench.fill().await;
    let pages = "update pg_class set reltuples = 0, relpages = pg_relation_size(oid) / 8192
                 where relnamespace = current_schema()::regnamespace and relkind in ('r', 'i')";
    bench.run(pages).await;
    let prepared = bench.prepare(&HOT).await;
    bench.check(&prepared, "with pages without rows").await;
    bench.gone().await;
}

#[tokio::test]
async fn what_relays_run_is_right_with_statistics_that_are_missing_fresh_or_stale() {
    right_whatever_the_statistics_say(Bench::new("relays", Purpose::Relaying).await, &HOT).await;
}

#[tokio::test]
async fn what_people_ask_is_right_with_statistics_that_are_missing_fresh_or_stale() {
    right_whatever_the_statistics_say(Bench::new("people", Purpose::Asking).await, &AWAITED).await;
}

async fn right_whatever_the_statistics_say(mut bench: Bench, statements: &[&str]) {
    bench.fill().await;
    let prepared = bench.prepare(statements).await;
    bench.check(&prepared, "without statistics").await;
    bench
        .run(
            "truncate outbox, outbox_lines, outbox_parked, outbox_dead, outbox_journal, outbox_subscriptions",
        )
        .await;
    bench.run("delete from outbox_snapshots where number > 0").await;
    bench.gather("analyze").await;
    bench.fill().await;
    bench.run("discard plans").await;
    bench.check(&prepared, "with statistics of when it was empty").await;
    bench.gather("analyze").await;
    bench.check(&prepared, "with fresh statistics").await;
    bench.run("delete from outbox where position < 99000; delete from outbox_lines where n < 290").await;
    bench.run("discard plans").await;
    bench.check(&prepared, "with statistics of when it was full").await;
    bench.gone().await;
}

#[tokio::test]
async fn what_is_counted_is_counted_in_an_index() {
    let mut bench = Bench::new("counted", Purpose::Asking).await;
    bench.fill().await;
    let mut names = COUNTED.map(|(name, _)| name).to_vec();
    names.dedup();
    let prepared = bench.prepare(&names).await;
    for state in ["without statistics", "with fresh ones"] {
        for (name, parameters) in &prepared {
            let plan = bench.plan(name, *parameters).await;
            let reads_all = plan.iter().any(|line| line.contains("Seq Scan") && scanned(line).is_some());
            let plan = plan.join("\n");
            assert!(!reads_all, "{state}, {name}:\n{plan}");
            for (_, expected) in COUNTED.iter().filter(|(of, _)| of == name) {
                assert!(plan.contains(expected), "{state}, {name}: {expected} in\n{plan}");
            }
        }
        bench.vacuum().await;
    }
    bench.gone().await;
}

#[tokio::test]
async fn publishing_looks_things_up_by_indexes_under_anybodys_settings() {
    let mut bench = Bench::new("publishing", Purpose::Any).await;
    bench.fill().await;
    let prepared = bench.prepare(&PUBLISHING).await;
    bench.check(&prepared, "without statistics").await;
    bench.gather("analyze").await;
    bench.check(&prepared, "with fresh statistics").await;
    bench.gone().await;
}

#[tokio::test]
async fn a_look_that_finds_nothing_reads_a_handful_of_pages_of_a_large_log() {
    let mut bench = Bench::new("idle", Purpose::Relaying).await;
    bench.prepare(&HOT).await;
    bench.fill().await;
    let now: String = sqlx::query_scalar("select pg_current_snapshot()::text")
        .fetch_one(&mut bench.connection)
        .await
        .unwrap();

    let open = format!(
        "explain (analyze, buffers, timing off) execute open('audit', 1, null, 0, '{now}', null, null)"
    );
    let rows = bench.connection.fetch_all(sqlx::raw_sql(AssertSqlSafe(open))).await.unwrap();
    let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();

    let buffers = plan.iter().find(|line| line.contains("Buffers: shared")).unwrap();
    let pages: u32 = buffers
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse::<u32>().unwrap())
        .sum();
    assert!(pages < 40, "{pages} pages:\n{}", plan.join("\n"));
    bench.gone().await;
}
