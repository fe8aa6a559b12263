//! Two subscriptions, of which one is down: the other does not wait, and nothing is lost or counted as a failure.

#![expect(clippy::print_stdout, reason = "this is a program")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use anyhow::Result;
use posthaste::{Delivery, Entry, Event, Fault, Outbox, Sink, Subscription, sqlite};
use tokio::sync::mpsc;

/// A warehouse system that can be down.
struct Warehouse {
    up: Arc<AtomicBool>,
    took: mpsc::Sender<(String, u32)>,
}

#[async_trait::async_trait]
impl Sink for Warehouse {
    async fn deliver(&self, batch: &[Entry], _until: Instant) -> Vec<Delivery> {
        if !self.up.load(Ordering::Acquire) {
            return vec![Delivery::Failed(Fault::unavailable("connection refused")); batch.len()];
        }
        for entry in batch {
            _ = self.took.send((entry.event.key.clone().unwrap_or_default(), entry.attempts)).await;
        }
        vec![Delivery::Delivered; batch.len()]
    }

    async fn ping(&self) -> Result<(), Fault> {
        if self.up.load(Ordering::Acquire) { Ok(()) } else { Err(Fault::unavailable("connection refused")) }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let database = posthaste_examples::database()?;
    let outbox = Outbox::open(&database.url).await?;
    let pool = sqlite::pool(&database.url).await?;

    let up = Arc::new(AtomicBool::new(false));
    let (took, mut takes) = mpsc::channel(8);
    let (mailed, mut mails) = mpsc::channel(8);
    let relay = outbox
        .relay()
        .subscribe(Subscription::new("warehouse"), Warehouse { up: Arc::clone(&up), took })
        .listen("order.placed", move |event| {
            let mailed = mailed.clone();
            async move { Ok(mailed.send(event.key.clone().unwrap_or_default()).await?) }
        })
        .start()
        .await?;

    outbox
        .transaction(&pool, async |tx| -> Result<()> {
            for number in 1..=3 {
                tx.publish(Event::of("order.placed").key(format!("order-{number}")).json(&number)?).await?;
            }
            Ok(())
        })
        .await?;

    println!("while the warehouse is down, mailed: {}", collect(&mut mails).await.join(", "));
    println!("the warehouse has: {}", takes.try_recv().is_ok());

    up.store(true, Ordering::Release);
    let mut orders = Vec::new();
    for _ in 1..=3 {
        orders.extend(takes.recv().await);
    }
    orders.sort();
    for (order, failures) in orders {
        println!("after the outage: {order}, failed attempts: {failures}");
    }
    relay.stop().await;
    Ok(())
}

async fn collect(mails: &mut mpsc::Receiver<String>) -> Vec<String> {
    let mut keys = Vec::new();
    for _ in 1..=3 {
        keys.extend(mails.recv().await);
    }
    keys.sort();
    keys
}
