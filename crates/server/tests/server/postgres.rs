//! The same API over PostgreSQL: what is bad for one database may be fine for another.

use std::sync::Arc;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use posthaste::{Outbox, postgres};
use posthaste_server::{Server, Through};
use serde_json::json;
use sqlx::{Connection, PgConnection};

use crate::{
    fixture::{serve, settings},
    fuzz,
    tuning::Knobs,
};

/// A database of its own, gone when the test has passed.
struct Database(String);

impl Database {
    async fn create() -> Self {
        let name = format!("posthaste_server_{}", uuid::Uuid::now_v7().simple());
        run(format!("create database {name}")).await;
        Self(name)
    }

    fn url(&self) -> String {
        let server = posthaste_services::postgres_url();
        format!("{}/{}", server.rsplit_once('/').unwrap().0, self.0)
    }

    /// A server over a log in it that can do everything.
    async fn server(&self) -> (Outbox, Server) {
        let outbox = Outbox::builder(self.url()).lanes(4).open().await.unwrap();
        let pool = postgres::pool(&self.url()).await.unwrap();
        let publisher = Arc::new(Through { outbox: outbox.clone(), pool });
        let server = Server::new(settings(), outbox.driver()).publisher(publisher);
        (outbox, server.tunable(Arc::new(Knobs::new(None))).config("lease: 15s\n"))
    }

    async fn remove(self) {
        run(format!("drop database {} with (force)", self.0)).await;
    }
}

async fn run(sql: String) {
    let mut connection = PgConnection::connect(&posthaste_services::postgres_url()).await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn texts_that_were_bad_ideas_elsewhere_are_only_texts() {
    let database = Database::create().await;
    let (_, server) = database.server().await;
    let running = serve(server).await;

    for text in ["'; drop table outbox; --", "%", "a\u{0}b", "😀", "\\", "\u{202e}", "<script>"] {
        let event = json!({ "event_type": "order.placed", "key": text, "payload": { "text": text } });
        let published = running.operator.post("/api/v1/events", &event).await;
        let key = utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        if text.contains('\0') {
            published.problem(400);
            running.viewer.get(&format!("/api/v1/keys/{key}")).await.problem(400);
            continue;
        }
        published.json();
        let listed = running.viewer.get(&format!("/api/v1/events?key={key}")).await.json();
        assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{text}");
        let key = running.viewer.get(&format!("/api/v1/keys/{key}")).await.json();
        assert_eq!(key["key"], text);
    }
    // A zero byte inside JSON is an escape, which PostgreSQL's own JSON does not take.
    let event = json!({ "event_type": "order.placed", "payload": "\u{0}" });
    let answer = running.operator.post("/api/v1/events", &event).await;
    assert!(answer.status < 500, "{}", answer.text());
    assert!(running.viewer.get("/api/v1/status").await.json()["events"].as_u64().unwrap() >= 6);

    drop(running);
    database.remove().await;
}

#[tokio::test]
async fn whatever_is_sent_is_answered_as_the_document_says() {
    let database = Database::create().await;
    let (outbox, server) = database.server().await;
    fuzz::play(fuzz::seed().unwrap_or(100), &outbox, server, &mut fuzz::Tally::new()).await;
    drop(outbox);
    database.remove().await;
}
