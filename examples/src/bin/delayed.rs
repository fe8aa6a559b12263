//! A delayed event waits for its time and does not stop what comes after it in its key.

#![expect(clippy::print_stdout, reason = "this is a program")]

use std::time::Duration;

use anyhow::Result;
use posthaste::{Event, Outbox, sqlite};
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
            async move { Ok(seen.send(event.event_type.to_string()).await?) }
        })
        .start()
        .await?;

    outbox
        .transaction(&pool, async |tx| -> Result<()> {
            let reminder = Event::of("cart.reminder").key("cart-7").deliver_in(Duration::from_millis(500));
            tx.publish(reminder.json(&"still there?")?).await?;
            tx.publish(Event::of("cart.changed").key("cart-7").json(&"two apples")?).await?;
            Ok(())
        })
        .await?;

    println!("first:  {}", sees.recv().await.unwrap_or_default());
    println!("second: {}", sees.recv().await.unwrap_or_default());
    relay.stop().await;
    Ok(())
}
