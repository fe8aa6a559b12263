//! Publishing from plain SQL, as a service in any language does: one INSERT in its own transaction.

#![expect(clippy::print_stdout, reason = "this is a program")]

use anyhow::Result;
use posthaste::{Outbox, sqlite};
use tokio::sync::mpsc;

#[tokio::main]
async fn main() -> Result<()> {
    let database = posthaste_examples::database()?;
    let outbox = Outbox::open(&database.url).await?;
    let pool = sqlite::pool(&database.url).await?;

    let (seen, mut sees) = mpsc::channel(8);
    let relay = outbox
        .relay()
        .listen_all(move |event| {
            let seen = seen.clone();
            async move {
                let payload = String::from_utf8_lossy(event.payload.as_bytes()).into_owned();
                Ok(seen.send(format!("{} on {}: {payload}", event.event_type, event.topic)).await?)
            }
        })
        .start()
        .await?;

    // Four columns are a whole event; everything else has a default.
    let insert = "insert into outbox (topic, event_type, key, payload) values ('users', 'user.created', '42', '{\"name\":\"Ada\"}')";
    sqlx::query(insert).execute(&pool).await?;
    // Nobody rings the relay: its own polling finds the event.
    println!("{}", sees.recv().await.unwrap_or_default());

    let unknown =
        sqlx::query("insert into outbox (topic, event_type, colour) values ('users', 'user.created', 'red')");
    println!("a mistake is the database's own error: {}", unknown.execute(&pool).await.is_err());

    relay.stop().await;
    Ok(())
}
