//! Opening an outbox: where its tables are, and what is said if something is wrong.

use posthaste::{Error, ErrorKind, Outbox, OutboxBuilder, SCHEMES};
use sqlx::Connection;

use crate::{
    database::Database,
    fixture::{Fixture, event, listening, next_id},
};

async fn trouble(outbox: OutboxBuilder) -> Error {
    outbox.open().await.expect_err("it cannot be opened")
}

/// The same address for somebody else.
fn as_user(url: &str, user_and_password: &str) -> String {
    let (_, place) = url.rsplit_once('@').unwrap();
    format!("postgres://{user_and_password}@{place}")
}

fn says(error: &Error, kind: ErrorKind, words: &str) {
    assert_eq!(error.kind(), kind, "{}", error.chain());
    assert!(error.chain().contains(words), "{}", error.chain());
}

#[tokio::test]
async fn says_what_is_wrong_with_the_address() {
    let database = Database::create().await;
    let open = |url: String| trouble(Outbox::builder(url));

    let password = open(as_user(&database.url(), "postgres:hunter2")).await;
    says(&password, ErrorKind::Refused, "check user, password and pg_hba.conf");
    assert!(!password.chain().contains("hunter2"), "a password is nobody's business");
    says(&open(as_user(&database.url(), "nobody:x")).await, ErrorKind::Refused, "check user, password");
    says(&open(format!("{}_not", database.url())).await, ErrorKind::Refused, "there is no such database");
    let away = open("postgres://u:hunter2@127.0.0.1:1/shop".to_owned()).await;
    says(&away, ErrorKind::Unavailable, "the database cannot be reached; check host, port and network");
    assert!(!away.chain().contains("hunter2"));
    let unknown = open("oracle://u:hunter2@host/shop".to_owned()).await;
    says(&unknown, ErrorKind::Invalid, "\"oracle\"");
    says(&unknown, ErrorKind::Invalid, "postgres://…");
    assert!(!unknown.chain().contains("hunter2"));
    assert!(SCHEMES.contains(&"postgres") && SCHEMES.contains(&"postgresql"));
    database.close().await;
}

#[tokio::test]
async fn says_that_tables_are_missing_or_laid_out_differently() {
    let database = Database::create().await;
    let outbox = || Outbox::builder(database.url());

    let missing = trouble(outbox().without_migration()).await;
    says(&missing, ErrorKind::Schema, "there are no tables with the prefix \"outbox\"");
    outbox().lanes(8).open().await.unwrap();
    outbox().without_migration().open().await.unwrap();
    says(&trouble(outbox().lanes(16)).await, ErrorKind::Schema, "created with 8 lanes");
    let elsewhere = trouble(outbox().schema("elsewhere").without_migration()).await;
    says(&elsewhere, ErrorKind::Schema, "in the schema \"elsewhere\"");
    says(&trouble(outbox().prefix("out box")).await, ErrorKind::Invalid, "table prefix");
    says(&trouble(outbox().schema("a\"b")).await, ErrorKind::Invalid, "schema");
    database.close().await;
}

#[tokio::test]
async fn says_so_if_the_tables_are_gone_when_something_is_published() {
    let shop = Fixture::new().await;
    sqlx::query("drop table outbox cascade").execute(&shop.pool).await.unwrap();
    let mut tx = shop.pool.begin().await.unwrap();

    let error = shop.outbox.publish(&mut tx, event("user.created")).await.unwrap_err();

    says(&error, ErrorKind::Schema, "run `posthaste migrate`, or check schema and prefix");
    shop.close().await;
}

#[tokio::test]
async fn several_outboxes_live_in_one_database_by_schema_and_prefix() {
    let shop = Fixture::new().await;
    let url = shop.database.url();
    let sales = Outbox::builder(&url).schema("sales").open().await.unwrap();
    let audit = Outbox::builder(&url).schema("sales").prefix("audit").lanes(4).open().await.unwrap();
    let (relay, mut hears) = listening(&sales);
    let relay = relay.start().await.unwrap();

    let mut tx = shop.pool.begin().await.unwrap();
    let sold = sales.publish(&mut tx, event("sold").key("k")).await.unwrap();
    let noted = audit.publish(&mut tx, event("noted")).await.unwrap();
    let id = sold.id();
    tx.commit().await.unwrap();
    sold.dispatch();
    noted.dispatch();

    assert_eq!(next_id(&mut hears).await, id);
    let tables = ["outbox", "sales.outbox", "sales.audit"];
    for (table, rows) in tables.into_iter().zip([0, 1, 1]) {
        assert_eq!(shop.rows(table).await, rows, "{table}");
    }
    relay.stop().await;
    assert!(hears.try_recv().is_err());
    shop.close().await;
}

#[tokio::test]
async fn a_role_that_may_only_publish_can_publish() {
    let shop = Fixture::new().await;
    let role = format!("clerk_{}", uuid::Uuid::now_v7().simple());
    let grant = format!(
        "create role {role} login password 'clerk'; grant select, insert on outbox to {role}; \
         grant select, insert, update on outbox_sequences to {role}"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(grant)).execute(&shop.pool).await.unwrap();
    let url = as_user(&shop.database.url(), &format!("{role}:clerk"));
    let mut connection = sqlx::PgConnection::connect(&url).await.unwrap();

    let mut tx = connection.begin().await.unwrap();
    let numbered = event("order.placed").aggregate("order", 7).next_version().idempotency_key("7");
    let first = shop.outbox.publish(&mut tx, numbered.clone()).await.unwrap();
    let repeat = shop.outbox.publish(&mut tx, numbered).await.unwrap();
    assert_eq!(first.id(), repeat.id());
    shop.outbox.commit(tx, first).await.unwrap();
    connection.close().await.unwrap();

    assert_eq!(shop.rows("outbox").await, 1);
    let clean = format!("drop owned by {role}; drop role {role}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(clean)).execute(&shop.pool).await.unwrap();
    shop.close().await;
}
