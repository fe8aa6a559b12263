//! `docs/postgres.md` is true: what it grants is enough for each role, and no more than it says.

use std::{sync::Arc, time::Duration};

use posthaste_core::{
    Admin, AuditFilter, DeadFilter, ErrorKind, Event, EventFilter, Fault, Hold, Inspect, JobKind, JobRequest,
    Log, OperatorAct, ResetTo, Retention, StatusWord, Subscription, SystemClock, Upkeep, Worked,
};
use posthaste_postgres::{PostgresLog, PostgresOptions};
use posthaste_relay::{RelayBuilder, Settings, Stopped};
use posthaste_services::postgres_url;
use posthaste_testkit::FlakySink;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::time::timeout;

use crate::{
    fixture::{Fixture, LANES, SUB, keyed, lease, number, run},
    walk::Walk,
};

/// Far longer than it takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(60);

const PAGE: &str = include_str!("../../../../docs/postgres.md");

/// All blocks with exactly this behind their fence, one after the other, for the tables and roles of a test.
fn block(fixture: &Fixture, marked: &str) -> String {
    let parts: Vec<&str> = PAGE.split("```").collect();
    assert_eq!(parts.len() % 2, 1, "every block is closed");
    let blocks = parts.iter().skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    let text: Vec<&str> = blocks.filter(|(mark, _)| *mark == marked).map(|(_, text)| text).collect();
    assert!(!text.is_empty(), "the page has a block marked {marked:?}");
    let schema = &fixture.schema.name;
    let named = ["publisher", "relay", "operator", "reader"].iter().fold(text.join("\n"), |text, role| {
        text.replace(&format!("outbox_{role} "), &format!("{schema}_{role} "))
            .replace(&format!("outbox_{role};"), &format!("{schema}_{role};"))
    });
    named
        .replace("messaging.", &format!("{schema}."))
        .replace("schema messaging", &format!("schema {schema}"))
}

/// The log with the roles of the page, and with users that have one role each.
async fn with_roles() -> Fixture {
    let fixture = Fixture::subscribed().await;
    let schema = &fixture.schema.name;
    for marked in ["sql publisher", "sql relay", "sql operator", "sql reader"] {
        fixture.run(&block(&fixture, marked)).await.unwrap();
    }
    for role in ["publisher", "relay", "operator", "reader"] {
        fixture
            .run(&format!("create role {schema}_{role}_user login password 'x' in role {schema}_{role}"))
            .await
            .unwrap();
    }
    fixture
}

/// The address as the user with this role.
fn url(fixture: &Fixture, role: &str) -> String {
    let url = postgres_url();
    let (_, place) = url.rsplit_once('@').unwrap();
    format!("postgres://{}_{role}_user:x@{place}", fixture.schema.name)
}

async fn connect(fixture: &Fixture, role: &str) -> PgConnection {
    let mut connection = PgConnection::connect(&url(fixture, role)).await.unwrap();
    run(&mut connection, &format!("set search_path = \"{}\"", fixture.schema.name)).await.unwrap();
    connection
}

/// Expects that the right for each of these is missing.
async fn may_not(fixture: &Fixture, role: &str, statements: &[&str]) {
    let mut connection = connect(fixture, role).await;
    for statement in statements {
        let done = run(&mut connection, statement).await;
        let code = done.as_ref().err().and_then(|error| error.as_database_error()?.code());
        assert_eq!(code.as_deref(), Some("42501"), "{role}: {statement}: {done:?}");
    }
}

#[tokio::test]
async fn a_publisher_inserts_and_neither_reads_nor_removes() {
    let fixture = with_roles().await;
    let mut connection = connect(&fixture, "publisher").await;
    run(&mut connection, "create temporary table orders (number integer, customer text)").await.unwrap();

    run(&mut connection, &block(&fixture, "sql")).await.unwrap();
    let insert = "insert into outbox (topic, event_type, key, payload, idempotency_key) values ('t', 'e', 'k', '1', 'once')";
    run(&mut connection, insert).await.unwrap();
    run(&mut connection, &format!("{insert} on conflict do nothing")).await.unwrap();

    assert_eq!(fixture.number("select count(*) from outbox").await, 2);
    let everything = [
        "select payload from outbox",
        "select * from outbox",
        "select headers from outbox",
        "update outbox set topic = 'x'",
        "delete from outbox",
        "truncate outbox",
        "drop table outbox",
        "insert into outbox (topic, event_type, payload, xid) values ('t', 'e', '1', '3')",
        "insert into outbox (topic, event_type, payload, created_at) values ('t', 'e', '1', now())",
        "select 1 from outbox_lines",
        "insert into outbox_lines select * from outbox_lines",
        "select 1 from outbox_parked",
        "select 1 from outbox_dead",
        "select 1 from outbox_subscriptions",
        "select 1 from outbox_status",
        "select nextval('outbox_snapshot_numbers')",
        "create table mine (i integer)",
    ];
    may_not(&fixture, "publisher", &everything).await;
}

#[tokio::test]
async fn the_first_grant_alone_is_enough_for_plain_inserts() {
    let fixture = with_roles().await;
    let schema = &fixture.schema.name;
    let revoked = format!(
        "revoke select (id, key, position, topic, idempotency_key, version) on outbox from {schema}_publisher;
         revoke all on outbox_sequences from {schema}_publisher"
    );
    fixture.run(&revoked).await.unwrap();
    let insert =
        "insert into outbox (topic, event_type, payload, idempotency_key) values ('t', 'e', '1', 'once')";

    let mut connection = connect(&fixture, "publisher").await;
    run(&mut connection, insert).await.unwrap();
    run(&mut connection, &format!("{insert} on conflict do nothing")).await.unwrap();
    let target = "on conflict (topic, idempotency_key) where idempotency_key is not null do nothing";
    let reading = [format!("{insert} returning position"), format!("{insert} {target}")];
    may_not(&fixture, "publisher", &reading.each_ref().map(String::as_str)).await;
}

#[tokio::test]
async fn a_publisher_uses_the_library() {
    let fixture = with_roles().await;
    let mut connection = connect(&fixture, "publisher").await;
    let events: Vec<Event> = [
        keyed("a").idempotency_key("once"),
        keyed("b").idempotency_key("once"),
        keyed("a").aggregate("order", 7).next_version(),
    ]
    .into_iter()
    .map(|draft| fixture.build(draft))
    .collect();

    let mut tx = connection.begin().await.unwrap();
    let published = posthaste_postgres::publish(&mut *tx, fixture.log.place(), &events).await.unwrap();
    let positions: Vec<_> = published.iter().map(|published| published.spot.unwrap().position).collect();
    let found = posthaste_postgres::find(&mut *tx, fixture.log.place(), &positions).await.unwrap();
    tx.commit().await.unwrap();

    assert_eq!((published[1].duplicate, published[2].version, found.len()), (true, Some(1), 3));
}

#[tokio::test]
async fn a_relay_relays_and_changes_no_table_and_no_event() {
    let fixture = with_roles().await;
    let log = PostgresLog::open(&url(&fixture, "relay"), fixture.options()).await.unwrap();
    fixture.publish((0..20).map(|number| keyed(&format!("k{number}")))).await;

    relays(&log).await;
    fixture.run("update outbox set created_at = '2000-01-01'").await.unwrap();
    let retention = Retention { events: Duration::from_secs(60), ..Retention::default() };
    assert_eq!(log.prune(&retention).await.unwrap().events, 20);

    let everything = [
        "drop table outbox",
        "drop table outbox_lines",
        "alter table outbox add column mine text",
        "truncate outbox",
        "update outbox set payload = '2'",
        "insert into outbox (topic, event_type, payload) values ('t', 'e', '1')",
        "update outbox_meta set value = '1'",
        "update outbox_lines set after_position = 0",
        "create table mine (i integer)",
        "drop view outbox_status",
    ];
    may_not(&fixture, "relay", &everything).await;
}

/// A whole life: subscribe, hold, read, settle, list, show, pause, reset, leave.
async fn relays(log: &PostgresLog) {
    log.subscribe(&Subscription::new("more")).await.unwrap();
    let mut walk = Walk::take(log, "a").await;
    assert_eq!(walk.drain().await.len(), 20);
    assert!(matches!(log.hold(&lease("a")).await.unwrap(), Hold::Alive(_)));
    log.leave(&posthaste_core::RelayId("a".to_owned())).await.unwrap();
    assert_eq!(log.status().await.unwrap().subscriptions.len(), 2);
    let delivered = EventFilter {
        subscription: Some(SUB.to_owned()),
        status: Some(StatusWord::Delivered),
        ..EventFilter::default()
    };
    let listed = log.list(&delivered).await.unwrap().items;
    assert_eq!(log.show(listed[0].id).await.unwrap().event.id, listed[0].id);
    for name in [SUB, "more"] {
        log.act(&OperatorAct::Pause(name.to_owned()), "ada").await.unwrap();
        let reset = OperatorAct::Reset { subscription: name.to_owned(), to: ResetTo::Now };
        assert_eq!(log.act(&reset, "ada").await.unwrap(), u64::from(LANES));
        log.act(&OperatorAct::Resume(name.to_owned()), "ada").await.unwrap();
    }
    assert!(log.dead(&Default::default()).await.unwrap().items.is_empty());
}

#[tokio::test]
async fn the_rights_of_a_relay_are_enough_for_what_fails() {
    let fixture = with_roles().await;
    let sent = fixture.publish((0..10).map(|number| keyed(&format!("k{number}")))).await;
    let sink = FlakySink::new(Arc::new(SystemClock));
    sink.fail(sent[3].id, 1, Fault::transient("once"));
    sink.fail(sent[5].id, 1, Fault::permanent("never"));
    let options = PostgresOptions { clock: None, ..fixture.options() };
    let log = PostgresLog::open(&url(&fixture, "relay"), options).await.unwrap();
    let settings = Settings { poll_max: Duration::from_millis(20), ..Settings::default() };
    let relay = RelayBuilder::new(Arc::new(log.clone()))
        .settings(settings)
        .subscribe(Subscription::new(SUB), Arc::new(sink.clone()))
        .start()
        .await
        .unwrap();

    timeout(PATIENCE, sink.wait_for(9)).await.expect("all but one come");
    assert_eq!(relay.stop().await, Stopped::Cleanly);
    let all = JobRequest { kind: JobKind::Replay, matching: DeadFilter::default(), per_second: None };
    assert_eq!(log.act(&OperatorAct::Start(all), "ada").await.unwrap(), 1);
    assert_eq!(log.work().await.unwrap(), Worked { letters: 1, next: None });
    assert_eq!(log.audit(&AuditFilter::default()).await.unwrap().items.len(), 2);
    assert_eq!(fixture.number("select count(*) from outbox_journal where what = 'failed'").await, 1);
}

#[tokio::test]
async fn an_operator_drops_a_subscription_and_a_relay_does_not() {
    let fixture = with_roles().await;
    fixture.log.act(&OperatorAct::Pause(SUB.to_owned()), "ada").await.unwrap();
    let drop = OperatorAct::Drop(SUB.to_owned());

    let relay = PostgresLog::open(&url(&fixture, "relay"), fixture.options()).await.unwrap();
    let error = relay.act(&drop, "ada").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused, "{}", error.chain());
    assert!(error.to_string().contains("docs/postgres.md"), "{error}");

    let operator = PostgresLog::open(&url(&fixture, "operator"), fixture.options()).await.unwrap();
    assert_eq!(operator.act(&drop, "ada").await.unwrap(), 1);
}

#[tokio::test]
async fn a_reader_reads_the_views_and_nothing_else() {
    let fixture = with_roles().await;
    fixture.publish([keyed("a")]).await;
    let mut connection = connect(&fixture, "reader").await;

    for statement in block(&fixture, "sql reader reads").split_inclusive(";\n") {
        let rows = sqlx::query(AssertSqlSafe(statement.to_owned())).fetch_all(&mut connection).await.unwrap();
        assert!(!rows.is_empty(), "{statement}");
    }
    assert_eq!(number(&mut connection, "select count(*) from outbox_status").await, 1);

    let tables = "select 1 from outbox, select 1 from outbox_lines, select 1 from outbox_parked, select 1 from outbox_dead, \
        select 1 from outbox_journal, select 1 from outbox_subscriptions, select 1 from outbox_relays, select 1 from outbox_meta";
    let everything: Vec<&str> = tables
        .split(", ")
        .chain([
            "insert into outbox (topic, event_type, payload) values ('t', 'e', '1')",
            "delete from outbox",
            "drop view outbox_status",
        ])
        .collect();
    may_not(&fixture, "reader", &everything).await;
    let refused =
        PostgresLog::open(&url(&fixture, "reader"), PostgresOptions { migrate: true, ..fixture.options() })
            .await;
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Refused);
}
