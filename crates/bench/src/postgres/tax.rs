//! What publishing adds to a transaction that inserts an order: nothing, an event in the outbox, a row in a classic table.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use posthaste::{Event, EventBuilder, Outbox, Payload, Result};
use sqlx::PgConnection;
use tokio::task::JoinSet;

use super::{
    report::Tax,
    shop::{Shop, failed},
};
use crate::median;

/// A round is cut into slices, taken in turns, so that what else the machine and its disk do falls on all kinds alike.
const SLICES: usize = Kind::ALL.len();
const SLICE: Duration = Duration::from_millis(500);

/// The order of the first turn. In each turn after it every place is the next kind's. As the steps from one place to the next are all
/// different, each kind comes once a round behind every other, but for where two turns meet: what one leaves behind falls on all alike.
const ORDER: [usize; SLICES] = [0, 5, 1, 4, 2, 3];

pub(crate) async fn measure(shop: &Shop, rounds: usize) -> Result<Vec<Tax>> {
    let outbox = shop.outbox().await?;
    let mut taxes = Vec::new();
    for clients in [1, 8] {
        let mut rates: [Vec<f64>; Kind::ALL.len()] = Default::default();
        for turn in 0..rounds.max(1) * SLICES {
            for first in ORDER {
                let kind = (first + turn) % SLICES;
                rates[kind].push(publish(shop, &outbox, Kind::ALL[kind], clients).await?);
            }
        }
        let rates = Kind::ALL.into_iter().zip(rates);
        taxes.extend(rates.map(|(kind, rates)| Tax {
            clients,
            what: kind.name().to_owned(),
            rate: median(rates),
        }));
    }
    Ok(taxes)
}

#[derive(Clone, Copy)]
enum Kind {
    Alone,
    Outbox,
    PlainSql,
    Classic,
    Polled,
    Retrying,
}

impl Kind {
    const ALL: [Kind; 6] =
        [Kind::Alone, Kind::Outbox, Kind::PlainSql, Kind::Classic, Kind::Polled, Kind::Retrying];

    fn name(self) -> &'static str {
        match self {
            Kind::Alone => "nothing else",
            Kind::Outbox => "an event, by the library",
            Kind::PlainSql => "an event, by plain SQL",
            Kind::Classic => "a row with a status, two indexes",
            Kind::Polled => "a row with a status and retries, three indexes",
            Kind::Retrying => "a row with a status, retries of its own, checks and searches, six indexes",
        }
    }
}

/// Transactions a second of so many clients.
async fn publish(shop: &Shop, outbox: &Outbox, kind: Kind, clients: usize) -> Result<f64> {
    let (count, began) = (Arc::new(AtomicU64::new(0)), Instant::now());
    let mut publishing = JoinSet::new();
    for _ in 0..clients {
        let (pool, outbox, count) = (shop.pool.clone(), outbox.clone(), Arc::clone(&count));
        publishing.spawn(async move {
            let mut connection = pool.acquire().await.map_err(failed("get a connection"))?;
            while began.elapsed() < SLICE {
                let number = count.fetch_add(1, Ordering::Relaxed);
                let mut tx = sqlx::Connection::begin(&mut *connection).await.map_err(failed("begin"))?;
                order(&mut tx, number).await?;
                let mut staged = None;
                match kind {
                    Kind::Alone => {}
                    Kind::Outbox => staged = Some(outbox.publish(&mut tx, event(number)).await?),
                    Kind::PlainSql => plain(&mut tx, number).await?,
                    Kind::Classic => classic(&mut tx, number).await?,
                    Kind::Polled => polled(&mut tx, number).await?,
                    Kind::Retrying => retrying(&mut tx, number).await?,
                }
                tx.commit().await.map_err(failed("commit"))?;
                // As an application does it: relays are told.
                if let Some(staged) = staged {
                    staged.dispatch();
                }
            }
            Ok(())
        });
    }
    for done in publishing.join_all().await {
        let done: Result<()> = done;
        done?;
    }
    Ok(count.load(Ordering::Relaxed) as f64 / began.elapsed().as_secs_f64())
}

async fn order(connection: &mut PgConnection, number: u64) -> Result<()> {
    let query = sqlx::query("insert into orders (customer, amount) values ($1, $2)");
    let query = query.bind(format!("customer-{number}")).bind(7_i64);
    query.execute(connection).await.map_err(failed("insert an order"))?;
    Ok(())
}

fn payload(number: u64) -> String {
    format!(
        "{{\"order\":{number},\"customer\":\"customer-{:05}\",\"amount\":7,\"currency\":\"EUR\",\"note\":\"{}\"}}",
        number % 1_000,
        "x".repeat(32)
    )
}

fn key(number: u64) -> String {
    format!("customer-{:05}", number % 1_000)
}

fn event(number: u64) -> EventBuilder {
    Event::of("order.placed").topic("orders").key(key(number)).payload(Payload::Json(payload(number)))
}

async fn plain(connection: &mut PgConnection, number: u64) -> Result<()> {
    let query = sqlx::query(
        "insert into outbox (topic, event_type, key, payload) values ('orders', 'order.placed', $1, $2)",
    );
    query.bind(key(number)).bind(payload(number)).execute(connection).await.map_err(failed("publish"))?;
    Ok(())
}

async fn classic(connection: &mut PgConnection, number: u64) -> Result<()> {
    let query = sqlx::query(
        "insert into classic (topic, event_type, key, payload) values ('orders', 'order.placed', $1, $2::text::jsonb)",
    );
    query.bind(key(number)).bind(payload(number)).execute(connection).await.map_err(failed("publish"))?;
    Ok(())
}

async fn polled(connection: &mut PgConnection, number: u64) -> Result<()> {
    let query = sqlx::query(
        "insert into polled (aggregate_type, aggregate_id, event_type, payload)
         values ('customer', $1, 'order.placed', $2::text::jsonb)",
    );
    query.bind(key(number)).bind(payload(number)).execute(connection).await.map_err(failed("publish"))?;
    Ok(())
}

async fn retrying(connection: &mut PgConnection, number: u64) -> Result<()> {
    let query = sqlx::query(
        "insert into retrying (id, aggregate_id, aggregate_type, event_type, payload, topic, key)
         values (replace(gen_random_uuid()::text, '-', ''), $1, 'customer', 'order.placed', $2::text::jsonb, 'orders', $1)",
    );
    query.bind(key(number)).bind(payload(number)).execute(connection).await.map_err(failed("publish"))?;
    Ok(())
}
