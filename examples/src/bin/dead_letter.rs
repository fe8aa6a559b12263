//! An event that cannot be delivered becomes a dead letter; when the cause is mended it is replayed.

#![expect(clippy::print_stdout, reason = "this is a program")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result};
use posthaste::{DeadFilter, DeadLetter, Event, ListenerError, OperatorAct, Outbox, sqlite};
use tokio::sync::mpsc;

#[tokio::main]
async fn main() -> Result<()> {
    let database = posthaste_examples::database()?;
    let outbox = Outbox::open(&database.url).await?;
    let pool = sqlite::pool(&database.url).await?;

    let mended = Arc::new(AtomicBool::new(false));
    let (seen, mut sees) = mpsc::channel(8);
    let works = Arc::clone(&mended);
    let relay = outbox
        .relay()
        .listen("invoice.sent", move |event| {
            let (seen, works) = (seen.clone(), works.load(Ordering::Acquire));
            async move {
                if event.key.as_deref() == Some("invoice-2") && !works {
                    return Err(ListenerError::permanent("no such customer"));
                }
                Ok(seen.send(event.key.clone().unwrap_or_default()).await?)
            }
        })
        .start()
        .await?;

    outbox
        .transaction(&pool, async |tx| -> Result<()> {
            for number in 1..=3 {
                tx.publish(Event::of("invoice.sent").key(format!("invoice-{number}")).json(&number)?).await?;
            }
            Ok(())
        })
        .await?;
    let mut delivered = [sees.recv().await.context("closed")?, sees.recv().await.context("closed")?];
    delivered.sort();
    println!("delivered: {}", delivered.join(", "));

    let letter = wait_for_dead_letter(&outbox).await?;
    println!(
        "dead: {} after {} attempt, {}: {}",
        letter.key.unwrap_or_default(),
        letter.attempts,
        letter.reason,
        letter.error
    );

    mended.store(true, Ordering::Release);
    let replay = OperatorAct::Replay(vec![letter.dead_id]);
    println!("replayed: {}", outbox.admin().act(&replay, "example").await?);
    println!("delivered: {}", sees.recv().await.context("closed")?);
    println!("replayed once more: {}", outbox.admin().act(&replay, "example").await?);
    relay.stop().await;
    Ok(())
}

async fn wait_for_dead_letter(outbox: &Outbox) -> Result<DeadLetter> {
    loop {
        if let Some(letter) = outbox.admin().dead(&DeadFilter::default()).await?.items.pop() {
            return Ok(letter);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
