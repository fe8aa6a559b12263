//! Opening: what is refused says why, and what to do.

use futures_util::future::join_all;
use posthaste_core::{ErrorKind, Log, Subscription};
use posthaste_postgres::{PostgresLog, PostgresOptions};
use posthaste_services::postgres_url;

use crate::{
    fixture::{Fixture, lease, number, run},
    schema::Schema,
};

/// Expects a refusal of this kind whose text has all of these parts.
async fn refused(url: &str, options: PostgresOptions, kind: ErrorKind, parts: &[&str]) {
    let error = PostgresLog::open(url, options).await.expect_err("this is refused");
    assert_eq!(error.kind(), kind, "{}", error.chain());
    for part in parts {
        assert!(error.to_string().contains(part), "{part:?} in {}", error.chain());
    }
}

fn migrating(schema: &Schema) -> PostgresOptions {
    PostgresOptions { schema: Some(schema.name.clone()), migrate: true, ..PostgresOptions::default() }
}

/// The address of the tests' server with something else in it: user and password, host and port, or the database.
fn address(login: Option<&str>, host: Option<&str>, database: Option<&str>) -> String {
    let url = postgres_url();
    let (scheme, rest) = url.split_once("://").unwrap();
    let (old_login, place) = rest.rsplit_once('@').unwrap();
    let (old_host, old_database) = place.split_once('/').unwrap();
    let (login, host) = (login.unwrap_or(old_login), host.unwrap_or(old_host));
    format!("{scheme}://{login}@{host}/{}", database.unwrap_or(old_database))
}

#[tokio::test]
async fn addresses_that_cannot_work_are_refused() {
    let options = PostgresOptions::default;
    refused(
        "sqlite://shop.db",
        options(),
        ErrorKind::Invalid,
        &["postgres://user:password@host:port/database"],
    )
    .await;
    refused(&address(Some("postgres:wrong"), None, None), options(), ErrorKind::Refused, &["password"]).await;
    refused(&address(Some("nobody_here:x"), None, None), options(), ErrorKind::Refused, &["user"]).await;
    let missing = address(None, None, Some("no_such_database"));
    refused(&missing, options(), ErrorKind::Refused, &["no such database"]).await;
    let closed = address(None, Some("127.0.0.1:1"), None);
    refused(&closed, options(), ErrorKind::Unavailable, &["host", "port"]).await;
}

#[tokio::test]
async fn a_password_is_never_told() {
    let url = address(Some("postgres:hunter2"), None, None);
    let error = PostgresLog::open(&url, PostgresOptions::default()).await.unwrap_err();
    assert!(!error.chain().to_string().contains("hunter2"), "{}", error.chain());
    let fixture = Fixture::new().await;
    assert!(!format!("{:?}", fixture.log).contains("posthaste:"), "{:?}", fixture.log);
}

#[tokio::test]
async fn options_that_cannot_work_are_refused() {
    let schema = Schema::new();
    let named = |prefix: &str| PostgresOptions { prefix: prefix.to_owned(), ..migrating(&schema) };
    let cases = [
        (PostgresOptions { lanes: Some(0), ..migrating(&schema) }, "lanes is 0"),
        (PostgresOptions { lanes: Some(65), ..migrating(&schema) }, "1 to 64"),
        (named("out-box"), "table prefix"),
        (named("outbox\"; drop table orders; --"), "table prefix"),
        (named("Outbox"), "lower-case"),
        (named("pg_outbox"), "pg_"),
        (PostgresOptions { schema: Some("a.b".to_owned()), ..migrating(&schema) }, "schema"),
    ];
    for (options, part) in cases {
        refused(&postgres_url(), options, ErrorKind::Invalid, &[part]).await;
    }
}

#[tokio::test]
async fn tables_that_are_missing_are_told_and_not_made() {
    let schema = Schema::new();
    let options = PostgresOptions { migrate: false, ..migrating(&schema) };

    let parts = ["\"outbox\"", &schema.name, "posthaste migrate"];
    refused(&postgres_url(), options.clone(), ErrorKind::Schema, &parts).await;
    PostgresLog::open(&postgres_url(), migrating(&schema)).await.unwrap();
    let other = PostgresOptions { prefix: "shop".to_owned(), ..options };
    refused(&postgres_url(), other, ErrorKind::Schema, &["\"shop\"", "posthaste migrate"]).await;
}

#[tokio::test]
async fn tables_of_another_version_or_cluster_are_told() {
    let fixture = Fixture::new().await;
    let set =
        |name: &str, value: &str| format!("update outbox_meta set value = '{value}' where name = '{name}'");
    let cases = [
        (set("schema_version", "99"), &["99", "newer program"][..]),
        (set("schema_version", "1"), &["version 1", "posthaste migrate"]),
        (set("schema_version", "4") + ";" + &set("system_identifier", "7"), &["cluster 7", "--adopt"]),
        (set("lanes", "0"), &["lanes"]),
        ("delete from outbox_meta where name = 'lanes'".to_owned(), &["lanes"]),
    ];
    for (damage, parts) in cases {
        fixture.run(&damage).await.unwrap();
        refused(&postgres_url(), fixture.options(), ErrorKind::Schema, parts).await;
    }
}

#[tokio::test]
async fn the_number_of_lanes_never_changes() {
    let fixture = Fixture::new().await;

    let other = PostgresOptions { lanes: Some(16), migrate: true, ..fixture.options() };
    refused(&postgres_url(), other, ErrorKind::Schema, &["8 lanes", "16"]).await;
    assert_eq!(fixture.open_again().await.capabilities().lanes, 8, "what is not asked for is taken as it is");
}

#[tokio::test]
async fn a_role_without_rights_is_told_what_is_missing() {
    let fixture = Fixture::new().await;
    let role = format!("{}_nobody", fixture.schema.name);
    fixture.run(&format!("create role {role} login password 'x'")).await.unwrap();
    let url = address(Some(&format!("{role}:x")), None, None);

    refused(&url, fixture.options(), ErrorKind::Refused, &["right is missing", "docs/postgres.md"]).await;
    let elsewhere =
        PostgresOptions { schema: Some(format!("{role}_schema")), migrate: true, ..fixture.options() };
    refused(&url, elsewhere, ErrorKind::Refused, &["right is missing"]).await;
}

#[tokio::test]
async fn a_server_that_only_reads_is_unavailable() {
    let fixture = Fixture::new().await;
    let url = format!("{}?options[default_transaction_read_only]=on", postgres_url());

    let standby = PostgresLog::open(&url, fixture.options()).await.unwrap();
    let error = standby.hold(&lease("a")).await.unwrap_err();

    assert_eq!(error.kind(), ErrorKind::Unavailable, "{}", error.chain());
    assert!(error.to_string().contains("read-only"), "{error}");
}

#[tokio::test]
async fn logs_with_other_prefixes_live_side_by_side() {
    let fixture = Fixture::subscribed().await;
    // Words of SQL, because names are quoted.
    for prefix in ["order", "_", "x0_y"] {
        let options = PostgresOptions { prefix: prefix.to_owned(), migrate: true, ..fixture.options() };
        let other = PostgresLog::open(&postgres_url(), options).await.unwrap();
        other.subscribe(&Subscription::new("other")).await.unwrap();
        assert_eq!(other.place().prefix(), prefix);
    }

    assert_eq!(fixture.number("select count(*) from outbox_subscriptions").await, 1);
    assert_eq!(fixture.number("select count(*) from order_subscriptions where name = 'other'").await, 1);
    assert_eq!(fixture.number("select count(*) from inbox").await, 0);
    assert_eq!(fixture.number("select count(*) from order_inbox_versions").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_may_create_one_log_at_once() {
    const MANY: i64 = 6;
    let (fixture, schema) = (Fixture::new().await, Schema::new());
    let url = postgres_url();
    // All of them have looked for the tables before the first may create them.
    let mut gate = fixture.connect().await;
    let lock = format!(
        "begin; select pg_advisory_xact_lock(hashtextextended('migrate {}.outbox', 7708301))",
        schema.name
    );
    run(&mut gate, &lock).await.unwrap();
    let opening = join_all((0..MANY).map(|_| PostgresLog::open(&url, migrating(&schema))));
    let open_gate = async {
        fixture.wait_for_who_waits_for(&mut gate, MANY).await;
        run(&mut gate, "commit").await.unwrap();
    };

    for log in tokio::join!(opening, open_gate).0 {
        assert_eq!(log.unwrap().capabilities().lanes, 64);
    }
}

#[tokio::test]
async fn the_migrations_as_text_make_the_same_tables() {
    let fixture = Fixture::new().await;
    let name = format!("{}_text", fixture.schema.name);
    let text = posthaste_postgres::migrations(Some(&name), "outbox", Some(8)).unwrap();
    fixture.run(&text).await.unwrap();

    let options = PostgresOptions { schema: Some(name.clone()), ..fixture.options() };
    assert_eq!(PostgresLog::open(&postgres_url(), options).await.unwrap().capabilities().lanes, 8);
    let differ = format!(
        "select count(*) from (
           select table_name, column_name, data_type, column_default from information_schema.columns
           where table_schema = '{0}'
         except
           select table_name, column_name, data_type, replace(column_default, '{1}', '{0}') from information_schema.columns
           where table_schema = '{1}') missing",
        fixture.schema.name, name
    );
    // Without a schema in the path each name says which one it is of.
    let mut plain = fixture.connect().await;
    run(&mut plain, "set search_path = pg_catalog").await.unwrap();
    let missing = number(&mut plain, &differ).await;
    fixture.run(&format!("drop schema {name} cascade")).await.unwrap();
    assert_eq!(missing, 0);
}
