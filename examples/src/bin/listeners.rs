//! Listeners: functions of this process that are called for events, once their transaction has committed.

#![expect(clippy::print_stdout, reason = "this is a program")]

use anyhow::Result;
use posthaste::{Event, Outbox, aggregate_types, event_types, sqlite};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

event_types! { enum UserEvent { Created = "user.created", Renamed = "user.renamed" } }
aggregate_types! { enum Aggregate { User = "user" } }

#[derive(Serialize, Deserialize)]
struct User {
    name: String,
}

#[tokio::main]
async fn main() -> Result<()> {
    let database = posthaste_examples::database()?;
    let outbox = Outbox::open(&database.url).await?;
    let pool = sqlite::pool(&database.url).await?;

    let (done, mut finished) = mpsc::channel(8);
    let relay = outbox
        .relay()
        .listen(UserEvent::Created, |event| async move {
            let user: User = event.json()?;
            println!("welcome, {}", user.name);
            Ok(())
        })
        .listen("user.renamed", |event| async move {
            println!("{} has a new name", event.aggregate_id.as_deref().unwrap_or("somebody"));
            Ok(())
        })
        // Called for every event, after those for its type.
        .listen_all(move |event| {
            let done = done.clone();
            async move {
                println!("  audit: {} of user {:?}", event.event_type, event.key);
                Ok(done.send(()).await?)
            }
        })
        .start()
        .await?;

    // A transaction that fails publishes nothing.
    let failed: Result<()> = outbox
        .transaction(&pool, async |tx| {
            tx.publish(
                Event::of(UserEvent::Created)
                    .aggregate(Aggregate::User, 1)
                    .json(&User { name: "Nobody".into() })?,
            )
            .await?;
            anyhow::bail!("the user exists already")
        })
        .await;
    println!("rolled back: {}", failed.expect_err("it fails on purpose"));

    // One that commits does, and what it published is delivered at once and in order.
    let ada = User { name: "Ada".into() };
    outbox
        .transaction(&pool, async |tx| -> Result<()> {
            tx.publish(Event::of(UserEvent::Created).aggregate(Aggregate::User, 42).json(&ada)?).await?;
            tx.publish(Event::of(UserEvent::Renamed).aggregate(Aggregate::User, 42).json(&"Ada Lovelace")?)
                .await?;
            Ok(())
        })
        .await?;

    finished.recv().await;
    finished.recv().await;
    relay.stop().await;
    Ok(())
}
