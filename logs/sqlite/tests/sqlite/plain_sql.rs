//! Plain SQL is a public API: other programs publish with one insert, and people look with one select.

use std::{collections::BTreeMap, time::Duration};

use posthaste_core::{
    ActKind, Appended, Event, EventId, Log, Page, Payload, RetryOverrides, Start, Subscription, Timestamp,
};
use posthaste_sqlite::{SqliteLog, SqliteOptions};

use crate::fixture::{Fixture, SUB, act, everything, keyed};

#[tokio::test]
async fn a_plain_insert_is_a_whole_event() {
    let fixture = Fixture::subscribed().await;

    fixture
        .sql(
            r#"insert into outbox (topic, event_type, key, payload) values ('users', 'user.created', '42', '{"name":"Ada"}');
               insert into outbox (topic, event_type, payload, content_type, headers, id) values
                 ('files', 'file.added', x'00ff', 'image/png', '{"trace":"abc"}', x'000102030405060708090a0b0c0d0e0f')"#,
        )
        .await
        .unwrap();

    let entries = fixture.page().await.entries;
    let [user, file] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!((user.event.topic.as_str(), &*user.event.event_type), ("users", "user.created"));
    assert_eq!(user.event.key.as_deref(), Some("42"));
    assert_eq!(user.event.event_version, "1.0.0");
    assert_eq!(user.event.payload, Payload::Json(r#"{"name":"Ada"}"#.to_owned()));
    assert!(
        user.event.occurred_at > Timestamp(1_700_000_000_000_000),
        "microseconds by the database's clock"
    );
    assert_eq!((user.defect.clone(), file.defect.clone()), (None, None));
    let bytes = Payload::Bytes { bytes: vec![0, 0xff], content_type: "image/png".into() };
    assert_eq!(file.event.payload, bytes);
    assert_eq!(file.event.headers, BTreeMap::from([("trace".to_owned(), "abc".to_owned())]));
    assert_eq!(file.event.id, "000102030405060708090a0b0c0d0e0f".parse::<EventId>().unwrap());
}

#[tokio::test]
async fn what_is_no_event_at_all_is_refused() {
    let fixture = Fixture::new().await;

    for refused in [
        "insert into outbox (topic, event_type) values ('a', 'b')",
        "insert into outbox (topic, event_type, payload) values ('a', 'b', 42)",
        "insert into outbox (event_type, payload) values ('b', '{}')",
        "insert into outbox (topic, event_type, payload, id) values ('a', 'b', '{}', x'00')",
        "insert into outbox (topic, event_type, payload, id) values ('a', 'b', '{}', 'a text')",
        "insert into outbox (topic, event_type, payload, lane) values ('a', 'b', '{}', 1)",
        "insert into outbox (topic, event_type, payload, deliver_after) values ('a', 'b', '{}', 'tomorrow')",
        "insert into outbox (topic, event_type, payload) values ('', 'b', '{}')",
        "insert into outbox (topic, event_type, payload) values ('a', '', '{}')",
        "insert into outbox (position, topic, event_type, payload) values (0, 'a', 'b', '{}')",
    ] {
        assert!(fixture.sql(refused).await.is_err(), "{refused}");
    }
    assert_eq!(fixture.number("select count(*) from outbox").await, 0);
}

#[tokio::test]
async fn a_position_behind_the_last_one_is_refused_also_when_it_is_free() {
    let fixture = Fixture::subscribed().await;
    fixture.publish((0..5).map(|_| keyed("a"))).await;
    fixture.sql("delete from outbox where position in (2, 5)").await.unwrap();

    for behind in [
        "insert into outbox (position, topic, event_type, payload) values (2, 'a', 'b', '{}')",
        "insert into outbox (position, topic, event_type, payload) values (5, 'a', 'b', '{}')",
        "insert into outbox (position, topic, event_type, payload) values (9, 'a', 'b', '{}'), (-1, 'a', 'b', '{}')",
    ] {
        let error = fixture.sql(behind).await.unwrap_err().to_string();
        assert!(error.contains("leave the position out"), "{behind}: {error}");
    }
    fixture
        .sql("insert into outbox (position, topic, event_type, payload) values (7, 'a', 'b', '{}'), (null, 'a', 'b', '{}')")
        .await
        .unwrap();
    assert_eq!(
        fixture.publish([keyed("a")]).await[0].spot.unwrap().position.0,
        9,
        "nobody is behind anybody"
    );
}

#[tokio::test]
async fn a_row_that_cannot_be_understood_says_why_and_stops_nobody() {
    let fixture = Fixture::subscribed().await;
    fixture
        .sql(
            r#"insert into outbox (topic, event_type, key, payload, headers, retry) values
                 ('a', 'b', 'good', ' [1] ', '{}', '{"max_attempts": 3, "base": "200ms", "multiplier": 1.5, "max": "1m"}'),
                 ('a', 'b', 'payload', '{"name":', null, null),
                 ('a', 'b', 'bytes', x'22ff22', null, null),
                 ('a', 'b', 'list', '{}', '[1]', null),
                 ('a', 'b', 'number', '{}', '{"a":1}', null),
                 ('a', 'b', 'retry', '{}', null, '{"max_attempts":"many"}'),
                 ('a', 'b', 'retry name', '{}', null, '{"attempts":3}'),
                 ('a', 'b', 'retry number', '{}', null, '{"base":200}'),
                 ('a', 'b', 'retry sense', '{}', null, '{"max_attempts":0}'),
                 ('a', cast(x'62ff' as text), 'text', '{}', null, null),
                 ('a', 'b', 'all', '{', '{', '{')"#,
        )
        .await
        .unwrap();

    let entries = fixture.page().await.entries;
    let told: Vec<(&str, &str)> = entries
        .iter()
        .map(|entry| (entry.event.key.as_deref().unwrap(), entry.defect.as_deref().unwrap_or_default()))
        .collect();
    let expected = [
        ("good", ""),
        ("payload", "payload is not JSON"),
        ("bytes", "payload is not UTF-8"),
        ("list", "headers are not a JSON object of texts"),
        ("number", "headers are not a JSON object of texts"),
        ("retry", "retry overrides are not understood"),
        (
            "retry name",
            "unknown field `attempts`, expected one of `max_attempts`, `base`, `multiplier`, `max`",
        ),
        ("retry number", "expected a time as text, such as \"200ms\""),
        ("retry sense", "max_attempts is 0; it must be at least 1"),
        ("text", "not UTF-8"),
        ("all", "retry overrides"),
    ];
    assert_eq!(told.len(), expected.len());
    for ((key, defect), (expected_key, part)) in told.into_iter().zip(expected) {
        assert_eq!(key, expected_key);
        assert!(defect.contains(part) && defect.is_empty() == part.is_empty(), "{key}: {defect:?}");
    }
    let retry = RetryOverrides {
        max_attempts: Some(3),
        base: Some(Duration::from_millis(200)),
        multiplier: Some(1.5),
        max: Some(Duration::from_secs(60)),
    };
    assert_eq!(entries[0].event.retry, retry);
}

#[tokio::test]
async fn the_largest_payload_is_an_option_of_the_log() {
    let fixture = Fixture::subscribed().await;
    let (at_the_limit, over) = (r#"{"total":1}"#, r#"{"total":10}"#);
    let insert = "insert into outbox (topic, event_type, key, payload) values ('a', 'b', 'k', ?1), ('a', 'b', 'k', ?2)";
    sqlx::query(insert).bind(at_the_limit).bind(over).execute(fixture.log.pool()).await.unwrap();
    let options = SqliteOptions { payload_limit: at_the_limit.len(), ..fixture.options() };
    let small = SqliteLog::open(&fixture.url(), options).await.unwrap();

    let defects = |page: Page| page.entries.into_iter().map(|entry| entry.defect).collect::<Vec<_>>();
    let told = defects(small.read(&everything()).await.unwrap());

    assert_eq!(defects(fixture.page().await), [None, None]);
    assert_eq!(told[0], None);
    assert!(told[1].as_deref().unwrap().contains("the payload has 12 bytes, and 11 are allowed"), "{told:?}");
}

#[tokio::test]
async fn a_checked_row_is_taken_at_its_word_and_a_changed_one_is_checked_again() {
    let fixture = Fixture::subscribed().await;
    let broken = Event::of("order.placed").payload(Payload::Json("{".to_owned()));
    fixture.publish([keyed("a"), broken]).await;
    assert_eq!(fixture.number("select checked from outbox where position = 1").await, 1);
    assert_eq!(
        fixture.number("select checked from outbox where position = 2").await,
        0,
        "it only claims to be JSON"
    );

    fixture.sql("update outbox set payload = '{' where position = 1").await.unwrap();

    let defects: Vec<bool> =
        fixture.page().await.entries.iter().map(|entry| entry.defect.is_some()).collect();
    assert_eq!(defects, [true, true]);
}

#[tokio::test]
async fn the_status_view_has_a_word_for_every_event() {
    let fixture = Fixture::subscribed().await;
    fixture
        .sql(
            "insert into outbox (topic, event_type, key, payload) values
               ('a', 'b', 'k', '1'), ('a', 'b', 'k', '2'), ('a', 'b', 'k', '3'), ('a', 'b', 'k', '4'), ('a', 'c', 'k', '5')",
        )
        .await
        .unwrap();
    let lane = fixture.page().await.entries[0].lane.0;
    assert_eq!(fixture.append("r", &[act(lane, 2, ActKind::Settled, 4)]).await, [Appended::Done]);
    fixture
        .sql(
            "insert into outbox_parked (subscription, position, lane, id, event_type, event_version, topic, content_type,
               occurred_at, checked, payload, attempts, due_at, delayed, last_error)
             select 'billing', position, lane, id, event_type, event_version, topic, content_type, occurred_at, 1, payload,
               2 - position, 9000000000000000, position - 1, case position when 1 then 'refused' end
             from outbox where position <= 2;
             insert into outbox_dead (subscription, position, lane, id, event_type, event_version, topic, content_type,
               occurred_at, checked, payload, reason, error, attempts, holds, moved_at)
             select 'billing', position, lane, id, event_type, event_version, topic, content_type, occurred_at, 1, payload,
               'poison_message', 'broke', 9, 0, 1
             from outbox where position = 3",
        )
        .await
        .unwrap();
    fixture.log.subscribe(&Subscription { start: Start::Now, ..Subscription::new("late") }).await.unwrap();

    let rows: Vec<(String, i64, String, i64, Option<String>)> = sqlx::query_as(
        "select subscription, position, status, attempts, last_error from outbox_status order by subscription, position",
    )
    .fetch_all(fixture.log.pool())
    .await
    .unwrap();

    let of = |name: &str| -> Vec<(String, i64, Option<String>)> {
        let rows = rows.iter().filter(|row| row.0 == name);
        rows.map(|(_, _, status, attempts, error)| (status.clone(), *attempts, error.clone())).collect()
    };
    let row =
        |status: &str, attempts, error: Option<&str>| (status.to_owned(), attempts, error.map(str::to_owned));
    let expected = [
        row("failed", 1, Some("refused")),
        row("delayed", 0, None),
        row("dead", 9, Some("broke")),
        row("delivered", 0, None),
        row("pending", 0, None),
    ];
    assert_eq!(of(SUB), expected);
    assert!(of("late").iter().all(|row| row.0 == "skipped"), "what was there before it began is not for it");
}

#[tokio::test]
async fn keys_of_every_shape_spread_over_the_lanes() {
    let shapes = [
        ("numbers", "cast(i as text)"),
        ("steps of 64", "cast(64 * i as text)"),
        ("numbers of 18 digits", "cast(100000000000000000 + 4096 * i as text)"),
        ("user-1", "'user-' || i"),
        ("tenant:1:settings", "'tenant:' || i || ':settings'"),
        ("padded", "printf('customer-%06d-profile', i)"),
        ("addresses", "char(97 + i % 26, 97 + i / 26 % 26, 97 + i / 676) || '@example.com'"),
        (
            "UUIDs",
            "lower(printf('%s-%s-4%s-9%s-%s', hex(randomblob(4)), hex(randomblob(2)), substr(hex(randomblob(2)), 2), \
           substr(hex(randomblob(2)), 2), hex(randomblob(6))))",
        ),
        ("UUIDs that differ in front", "printf('%08x-1dd2-11f0-9735-0242ac120002', i * 7919)"),
        ("ULIDs", "printf('01J0B3V1MM%s', substr(hex(randomblob(8)), 1, 16))"),
        ("Unicode", "'клиент №' || i"),
        ("no key", "null"),
    ];
    let fixture = Fixture::new().await;
    for lanes in ["64", "7"] {
        for (shape, expression) in shapes {
            let share = largest_share(&fixture, lanes, expression).await;
            assert!(share < 1.6, "{shape}: the fullest of {lanes} lanes has {share:.2} times its share");
        }
    }
}

/// How much more than its share the fullest lane has, of 10,000 events with such keys.
async fn largest_share(fixture: &Fixture, lanes: &str, key: &str) -> f64 {
    let migration = include_str!("../../migrations/0001_outbox.sql");
    let migration =
        migration.replace("{prefix}", "spread").replace("{inbox}", "spread_inbox").replace("{lanes}", lanes);
    let mut tx = posthaste_sqlite::begin(fixture.log.pool()).await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(migration)).execute(&mut *tx).await.unwrap();
    let fill = format!(
        "with recursive n(i) as (select 0 union all select i + 1 from n where i < 9999)
         insert into spread (topic, event_type, payload, key) select 't', 'e', '1', {key} from n"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(fill)).execute(&mut *tx).await.unwrap();
    let fullest: i64 = sqlx::query_scalar(
        "select max(c) from (select count(*) as c from spread where typeof(lane) = 'integer' group by lane)",
    )
    .fetch_one(&mut *tx)
    .await
    .unwrap();
    tx.rollback().await.unwrap();
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let fullest = fullest as f64;
    fullest * lanes.parse::<f64>().unwrap() / 10_000.0
}
