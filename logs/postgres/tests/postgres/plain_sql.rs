//! Plain SQL is a public API: other programs publish with one insert, and people look with one select.

use std::{collections::BTreeMap, time::Duration};

use posthaste_core::{
    Clock, ErrorKind, Event, EventFilter, EventId, Filter, Inspect, Log, Page, Pattern, Payload,
    RetryOverrides, Start, StatusWord, Subscription, SystemClock, Timestamp,
};
use posthaste_postgres::{PostgresLog, PostgresOptions};
use posthaste_services::postgres_url;

use crate::{
    fixture::{Fixture, SUB, everything, keyed},
    walk::{Walk, behind_last},
};

#[tokio::test]
async fn a_plain_insert_is_a_whole_event() {
    let fixture = Fixture::subscribed().await;

    fixture
        .run(
            r#"insert into outbox (topic, event_type, key, payload) values ('users', 'user.created', '42', '{"name":"Ada"}');
               insert into outbox (topic, event_type, payload, payload_bytes, content_type, headers, id) values
                 ('files', 'file.added', '', '\x00ff', 'image/png', '{"trace":"abc"}', '00010203-0405-0607-0809-0a0b0c0d0e0f')"#,
        )
        .await
        .unwrap();

    let entries = fixture.page().await.entries;
    let [user, file] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!((user.event.topic.as_str(), &*user.event.event_type), ("users", "user.created"));
    assert_eq!(user.event.key.as_deref(), Some("42"));
    assert_eq!(user.event.event_version, "1.0.0");
    assert_eq!(user.event.payload, Payload::Json(r#"{"name":"Ada"}"#.to_owned()));
    assert!(user.event.occurred_at > Timestamp(1_700_000_000_000_000), "by the database's clock");
    assert_eq!((user.defect.clone(), file.defect.clone()), (None, None));
    let bytes = Payload::Bytes { bytes: vec![0, 0xff], content_type: "image/png".into() };
    assert_eq!(file.event.payload, bytes);
    assert_eq!(file.event.headers, BTreeMap::from([("trace".to_owned(), "abc".to_owned())]));
    assert_eq!(file.event.id, "000102030405060708090a0b0c0d0e0f".parse::<EventId>().unwrap());
}

#[tokio::test]
async fn an_event_without_an_id_gets_one_that_begins_with_the_time() {
    let fixture = Fixture::subscribed().await;
    let now = u128::try_from(SystemClock.now().0 / 1_000).unwrap();

    for _ in 0..2 {
        fixture.run("insert into outbox (topic, event_type, payload) values ('a', 'b', '{}')").await.unwrap();
    }

    let entries = fixture.page().await.entries;
    let [first, second] = [0, 1].map(|index: usize| u128::from_be_bytes(*entries[index].event.id.as_bytes()));
    let [began, next] = [first, second].map(|id| id >> 80);
    assert!(now.abs_diff(began) < 60_000 && began <= next, "{now} {began} {next}");
    assert_ne!(first, second);
    assert_eq!([first >> 76 & 0xf, first >> 62 & 0x3], [7, 2], "version and variant of a UUIDv7");
}

#[tokio::test]
async fn what_is_no_event_at_all_is_refused() {
    let fixture = Fixture::new().await;

    for refused in [
        "insert into outbox (topic, event_type) values ('a', 'b')",
        "insert into outbox (topic, event_type, payload_bytes) values ('a', 'b', '{}')",
        "insert into outbox (event_type, payload) values ('b', '{}')",
        "insert into outbox (topic, payload) values ('a', '{}')",
        "insert into outbox (topic, event_type, payload) values ('', 'b', '{}')",
        "insert into outbox (topic, event_type, payload) values ('a', '', '{}')",
        "insert into outbox (topic, event_type, payload, id) values ('a', 'b', '{}', 'a text')",
        "insert into outbox (topic, event_type, payload, lane) values ('a', 'b', '{}', 1)",
        "insert into outbox (topic, event_type, payload, position) values ('a', 'b', '{}', 1)",
        "insert into outbox (topic, event_type, payload, deliver_after) values ('a', 'b', '{}', 'someday')",
    ] {
        assert!(fixture.run(refused).await.is_err(), "{refused}");
    }
    assert_eq!(fixture.number("select count(*) from outbox").await, 0);
}

#[tokio::test]
async fn a_row_that_cannot_be_understood_says_why_and_stops_nobody() {
    let fixture = Fixture::subscribed().await;
    fixture
        .run(
            r#"insert into outbox (topic, event_type, key, payload, headers, retry) values
                 ('a', 'b', 'good', ' [1] ', '{}', '{"max_attempts": 3, "base": "200ms", "multiplier": 1.5, "max": "1m"}'),
                 ('a', 'b', 'payload', '{"name":', null, null),
                 ('a', 'b', 'list', '{}', '[1]', null),
                 ('a', 'b', 'number', '{}', '{"a":1}', null),
                 ('a', 'b', 'retry', '{}', null, '{"max_attempts":"many"}'),
                 ('a', 'b', 'retry sense', '{}', null, '{"max_attempts":0}'),
                 ('a', 'b', 'all', '{', '{', '{');
               insert into outbox (topic, event_type, key, payload, payload_bytes) values
                 ('a', 'b', 'bytes', '', '\x22ff22'), ('a', 'b', 'two', '1', '2')"#,
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
        ("list", "headers are not a JSON object of texts"),
        ("number", "headers are not a JSON object of texts"),
        ("retry", "retry overrides are not understood"),
        ("retry sense", "max_attempts is 0; it must be at least 1"),
        ("all", "retry overrides"),
        ("bytes", "payload is not UTF-8"),
        ("two", "it has a payload and payload_bytes; where there are bytes, payload must be empty"),
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
async fn times_at_the_ends_of_what_postgres_knows_are_no_error() {
    let fixture = Fixture::subscribed().await;
    fixture
        .run(
            "insert into outbox (topic, event_type, payload, occurred_at, deliver_after) values
               ('a', 'b', '1', 'infinity', '-infinity'), ('a', 'b', '1', '4713-01-01 bc', 'infinity'),
               ('a', 'b', '1', '294276-12-31', '294276-12-31'), ('a', 'b', '1', '1969-12-31', null)",
        )
        .await
        .unwrap();

    let delayed: Vec<bool> = fixture.page().await.entries.iter().map(|entry| entry.delayed).collect();
    assert_eq!(delayed, [false, true, true, false]);
}

#[tokio::test]
async fn the_largest_payload_is_an_option_of_the_log() {
    let fixture = Fixture::subscribed().await;
    let (at_the_limit, over) = (r#"{"total":1}"#, r#"{"total":10}"#);
    let insert = format!(
        "insert into outbox (topic, event_type, key, payload) values ('a', 'b', 'k', '{at_the_limit}'), ('a', 'b', 'k', '{over}')"
    );
    fixture.run(&insert).await.unwrap();
    let options = PostgresOptions { payload_limit: at_the_limit.len(), ..fixture.options() };
    let small = PostgresLog::open(&postgres_url(), options).await.unwrap();

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
    assert_eq!(
        fixture.number("select count(*) from outbox where checked").await,
        1,
        "one only claims to be JSON"
    );

    fixture.run("update outbox set payload = '{' where position = 1").await.unwrap();

    let defects: Vec<bool> =
        fixture.page().await.entries.iter().map(|entry| entry.defect.is_some()).collect();
    assert_eq!(defects, [true, true]);
}

#[tokio::test]
async fn the_status_view_has_a_word_for_every_event() {
    let fixture = Fixture::subscribed().await;
    fixture
        .run(
            "insert into outbox (topic, event_type, key, payload) values
               ('a', 'b', 'k', '1'), ('a', 'b', 'k', '2'), ('a', 'b', 'k', '3'), ('a', 'b', 'k', '4'), ('a', 'c', 'k', '5')",
        )
        .await
        .unwrap();
    let mut walk = Walk::take(&fixture.log, "r").await;
    let page = walk.read(4).await;
    walk.settle(&behind_last(&page)).await;
    fixture
        .run(
            "insert into outbox_parked (subscription, position, lane, id, event_type, event_version, topic, content_type,
               occurred_at, checked, payload, attempts, due_at, delayed, last_error)
             select 'billing', position, outbox_lane(key, id), id, event_type, event_version, topic, content_type, occurred_at, true, payload,
               2 - position, 'infinity', position = 2, case position when 1 then 'refused' end
             from outbox where position <= 2;
             insert into outbox_dead (subscription, position, lane, id, event_type, event_version, topic, content_type,
               occurred_at, checked, payload, reason, error, attempts, holds, moved_at)
             select 'billing', position, outbox_lane(key, id), id, event_type, event_version, topic, content_type, occurred_at, true, payload,
               'poison_message', 'broke', 9, false, now()
             from outbox where position = 3",
        )
        .await
        .unwrap();
    fixture.log.subscribe(&Subscription { start: Start::Now, ..Subscription::new("late") }).await.unwrap();

    let rows: Vec<(String, i64, String, i32, Option<String>)> = sqlx::query_as(
        "select subscription, position, status, attempts, last_error from outbox_status order by subscription, position",
    )
    .fetch_all(&mut fixture.connect().await)
    .await
    .unwrap();

    let of = |name: &str| -> Vec<(String, i32, Option<String>)> {
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
async fn a_star_of_a_filter_is_the_only_sign_that_means_something() {
    let names =
        ["a%b", "axb", "a_b", "a!b", r"a\b", "a.b", "a*b", "", "user.created", "user.", "xuser.", "%", "ü*"];
    let patterns =
        ["a%b", "a_b", "a!b", r"a\b", "a*b", "a.b", "*", "user.*", "*.", "*e*t*", "**", "!%", "ü*", "[a]*"];
    for pattern in patterns {
        let fixture = Fixture::new().await;
        let filter = Filter { types: vec![Pattern::new(pattern)], topics: Vec::new() };
        fixture
            .log
            .subscribe(&Subscription { filter: filter.clone(), ..Subscription::new(SUB) })
            .await
            .unwrap();
        let named = names.into_iter().filter(|name| !name.is_empty());
        let sent: Vec<Event> =
            named.map(|name| fixture.build(Event::of(name).payload(Payload::Json("1".to_owned())))).collect();
        let mut tx = fixture.begin().await;
        posthaste_postgres::publish(&mut *tx, fixture.log.place(), &sent).await.unwrap();
        tx.commit().await.unwrap();

        let pending = EventFilter {
            subscription: Some(SUB.to_owned()),
            status: Some(StatusWord::Pending),
            ..EventFilter::default()
        };
        let mut listed: Vec<EventId> =
            fixture.log.list(&pending).await.unwrap().items.iter().map(|item| item.id).collect();
        listed.reverse();
        let wanted: Vec<EventId> =
            sent.iter().filter(|event| filter.matches(event)).map(|event| event.id).collect();
        assert_eq!(listed, wanted, "{pattern:?}");
    }
}

#[tokio::test]
async fn a_filter_that_could_not_be_stored_is_told() {
    let fixture = Fixture::new().await;
    let filter = Filter { types: Vec::new(), topics: vec![Pattern::new("a\0*")] };

    let error = fixture.log.subscribe(&Subscription { filter, ..Subscription::new(SUB) }).await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("zero byte"), "{error}");
}

#[tokio::test]
async fn keys_of_every_shape_spread_over_the_lanes() {
    let fixture = Fixture::new().await;
    let shapes = [
        ("numbers", "i::text"),
        ("steps of 64", "(64 * i)::text"),
        ("user-1", "'user-' || i"),
        ("padded", "'customer-' || lpad(i::text, 6, '0')"),
        ("UUIDs", "gen_random_uuid()::text"),
        ("Unicode", "'клиент №' || i"),
        ("no key", "null"),
    ];
    for (shape, key) in shapes {
        let fill = format!(
            "truncate outbox; insert into outbox (topic, event_type, payload, key)
             select 't', 'e', '1', {key} from generate_series(1, 8000) i"
        );
        fixture.run(&fill).await.unwrap();
        let fullest = fixture
            .number(
                "select max(c) from (select count(*) as c from outbox group by outbox_lane(key, id)) lanes",
            )
            .await;
        assert!(fullest < 1_300, "{shape}: the fullest of 8 lanes has {fullest} of 8000");
    }
}
