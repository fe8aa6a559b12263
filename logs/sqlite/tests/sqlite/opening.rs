//! Opening: what is refused says why, and what to do.

use std::{fs, time::Duration};

use posthaste_core::{ErrorKind, Log, Subscription};
use posthaste_sqlite::{SqliteLog, SqliteOptions};
use sqlx::Connection;

use crate::fixture::{Fixture, SUB, lease, url};

/// Expects a refusal of this kind whose text has all of these parts.
async fn refused(url: &str, options: SqliteOptions, kind: ErrorKind, parts: &[&str]) {
    let error = SqliteLog::open(url, options).await.expect_err("this is refused");
    assert_eq!(error.kind(), kind, "{}", error.chain());
    for part in parts {
        assert!(error.to_string().contains(part), "{part:?} in {error}");
    }
}

fn migrating() -> SqliteOptions {
    SqliteOptions { migrate: true, ..SqliteOptions::default() }
}

#[tokio::test]
async fn addresses_that_cannot_work_are_refused() {
    for memory in ["sqlite::memory:", "sqlite://shop.db?mode=memory"] {
        refused(memory, migrating(), ErrorKind::Invalid, &["several connections", "sqlite://path"]).await;
    }
    refused("postgres://host", migrating(), ErrorKind::Invalid, &["sqlite://path"]).await;
    refused("sqlite://", migrating(), ErrorKind::Invalid, &["names no file"]).await;
    refused("sqlite://shop.db?mode=ro", migrating(), ErrorKind::Refused, &["read-only"]).await;
}

#[tokio::test]
async fn options_that_cannot_work_are_refused() {
    let url = url(&tempfile::tempdir().unwrap());
    let cases = [
        (SqliteOptions { lanes: Some(0), ..migrating() }, "lanes is 0"),
        (SqliteOptions { lanes: Some(65), ..migrating() }, "1 to 64"),
        (SqliteOptions { busy_timeout: Duration::MAX, ..migrating() }, "busy_timeout"),
        (SqliteOptions { doorbell_interval: Duration::ZERO, ..migrating() }, "doorbell_interval"),
        (SqliteOptions { prefix: "out-box".to_owned(), ..migrating() }, "table prefix"),
    ];
    for (options, part) in cases {
        refused(&url, options, ErrorKind::Invalid, &[part]).await;
    }
}

#[tokio::test]
async fn a_file_or_tables_that_are_missing_are_told_and_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let url = url(&folder);

    refused(&url, SqliteOptions::default(), ErrorKind::NotFound, &["shop.db", "posthaste migrate"]).await;
    refused(&url, SqliteOptions { create: false, ..migrating() }, ErrorKind::NotFound, &["shop.db"]).await;
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "a wrong path leaves no file behind");

    fs::write(folder.path().join("shop.db"), "").unwrap();
    refused(&url, SqliteOptions::default(), ErrorKind::Schema, &["\"outbox\"", "posthaste migrate"]).await;
}

#[tokio::test]
async fn a_folder_that_is_missing_or_goes_away_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let missing = format!("sqlite://{}/no/shop.db", folder.path().display());
    for options in [migrating(), SqliteOptions::default()] {
        refused(&missing, options, ErrorKind::NotFound, &["no folder", "/no for", "shop.db", "create"]).await;
    }

    fs::create_dir(folder.path().join("no")).unwrap();
    let log = SqliteLog::open(&missing, migrating()).await.unwrap();
    log.close().await.unwrap();
    fs::remove_dir_all(folder.path().join("no")).unwrap();
    let error = log.hold(&lease("a")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{}", error.chain());
    assert!(error.to_string().contains("/no/shop.db") && error.to_string().contains("folder"), "{error}");
}

#[tokio::test]
async fn a_log_that_is_closed_leaves_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let log = SqliteLog::open(&url(&folder), migrating()).await.unwrap();
    log.subscribe(&Subscription::new(SUB)).await.unwrap();
    log.hold(&lease("a")).await.unwrap();
    sqlx::query("insert into outbox (topic, event_type, payload) values ('t', 'e', '1')")
        .execute(log.pool())
        .await
        .unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "with what is written ahead");

    log.close().await.unwrap();

    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert!(log.hold(&lease("a")).await.is_ok(), "who uses it again opens it");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("shop.db"), "Dear Sir or Madam, ".repeat(100)).unwrap();

    refused(&url(&folder), migrating(), ErrorKind::Invalid, &["not an SQLite database"]).await;
}

#[tokio::test]
async fn tables_of_another_version_or_layout_are_told() {
    let fixture = Fixture::new().await;
    let cases = [
        ("update outbox_meta set value = '99' where name = 'schema_version'", &["99", "knows 3"][..]),
        (
            "update outbox_meta set value = '1' where name = 'schema_version'",
            &["version 1", "posthaste migrate"],
        ),
        ("update outbox_meta set value = 'windows' where name = 'layout'", &["\"windows\"", "\"sqlite\""]),
        (
            "delete from outbox_meta where name = 'layout'; delete from outbox_meta where name = 'lanes'",
            &["lanes"],
        ),
    ];
    for (damage, parts) in cases {
        fixture.sql(damage).await.unwrap();
        refused(&fixture.url(), fixture.options(), ErrorKind::Schema, parts).await;
    }
}

#[tokio::test]
async fn the_number_of_lanes_never_changes() {
    let fixture = Fixture::new().await;

    let other = SqliteOptions { lanes: Some(16), migrate: true, ..fixture.options() };
    refused(&fixture.url(), other, ErrorKind::Schema, &["8 lanes", "16"]).await;
    assert_eq!(fixture.open_again().await.capabilities().lanes, 8, "what is not asked for is taken as it is");
}

#[tokio::test]
async fn logs_with_other_prefixes_live_in_one_file() {
    let fixture = Fixture::subscribed().await;
    // A word of SQL, because names are quoted.
    let options = SqliteOptions { prefix: "order".to_owned(), ..migrating() };
    let other = SqliteLog::open(&fixture.url(), options).await.unwrap();
    other.subscribe(&Subscription::new("other")).await.unwrap();

    assert_eq!(fixture.number("select count(*) from outbox_subscriptions").await, 1);
    assert_eq!(fixture.number("select count(*) from order_subscriptions where name = 'other'").await, 1);
    assert_eq!(fixture.number("select count(*) from inbox").await, 0);
    assert_eq!(fixture.number("select count(*) from order_inbox_versions").await, 0);
    assert_eq!(other.prefix(), "order");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_may_create_one_log_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let url = url(&folder);
    let opening = (0..6).map(|_| SqliteLog::open(&url, migrating()));

    for log in futures_util::future::join_all(opening).await {
        assert_eq!(log.unwrap().capabilities().lanes, 64);
    }
}

#[tokio::test]
async fn a_locked_database_is_unavailable_until_it_is_not() {
    let fixture = Fixture::subscribed().await;
    let options = SqliteOptions { busy_timeout: Duration::from_millis(20), ..fixture.options() };
    let log = SqliteLog::open(&fixture.url(), options).await.unwrap();
    let mut connection = fixture.log.pool().acquire().await.unwrap();
    let writer = connection.begin_with("begin immediate").await.unwrap();

    let error = log.hold(&lease("a")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{}", error.chain());
    assert!(error.to_string().contains("locked"), "{error}");
    assert!(log.subscribe(&Subscription::new(SUB)).await.is_err());

    writer.rollback().await.unwrap();
    assert!(log.hold(&lease("a")).await.is_ok(), "it recovers by itself");
}
