//! The application: orders are placed, paid and shipped, each step in a transaction with its event.
//!
//! It is written as any service would be: its own table and the outbox change together, or not at all.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use anyhow::{Context, Result};
use fastrand::Rng;
use posthaste::{
    Event, EventBuilder, EventId, Outbox, Spot, aggregate_types, event_types, sqlite::SqlitePool,
};
use posthaste_testkit::history::Committed;
use serde_json::json;

use super::{plan::Plan, till::Till};

event_types! {
    pub(super) enum ShopEvent {
        Placed = "order.placed",
        Paid = "order.paid",
        Shipped = "order.shipped",
        Viewed = "page.viewed",
    }
}

aggregate_types! { enum Aggregate { Order = "order" } }

/// One transaction in so many is rolled back, after its event was published in it.
const ROLLED_BACK: usize = 12;
/// One step in so many is a page that was viewed: an event without a key.
const VIEWED: usize = 4;
/// So many orders are under way at the same time, so that the events of different keys mix.
const ORDERS_UNDER_WAY: usize = 8;

/// What the shop did, as it saw it itself.
#[derive(Debug, Default)]
pub(crate) struct Books {
    pub(crate) sold: Vec<Sold>,
    /// The events of transactions that were rolled back.
    pub(crate) rolled_back: BTreeSet<EventId>,
    /// How many of the sold are orders placed.
    pub(crate) placed: u64,
    /// The event that brings out the bug, and its order.
    pub(crate) poison: Option<(EventId, String)>,
}

/// An event whose transaction committed.
#[derive(Clone, Debug)]
pub(crate) struct Sold {
    pub(crate) event: Committed,
    pub(crate) committed_at: Instant,
}

pub(super) struct Shop<'a> {
    outbox: &'a Outbox,
    pool: &'a SqlitePool,
    books: &'a Mutex<Books>,
    rng: Rng,
    under_way: Vec<Order>,
    orders: u64,
}

#[derive(Clone, Debug)]
struct Order {
    number: u64,
    next: ShopEvent,
}

/// Why a transaction was rolled back.
enum Refusal {
    /// On purpose; this event was published in it.
    Declined(EventId),
    Failed(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Refusal::Failed(error.into())
    }
}

impl<'a> Shop<'a> {
    pub(super) async fn build(
        outbox: &'a Outbox,
        pool: &'a SqlitePool,
        books: &'a Mutex<Books>,
        seed: u64,
    ) -> Result<Self> {
        sqlx::query("create table orders (number integer primary key, state text not null)")
            .execute(pool)
            .await
            .context("cannot create the shop's table")?;
        Ok(Self { outbox, pool, books, rng: Rng::with_seed(seed), under_way: Vec::new(), orders: 0 })
    }

    /// Does business at the planned rate, and finishes every order at the end.
    pub(super) async fn open(mut self, plan: &Plan, opened: tokio::time::Instant) -> Result<()> {
        let mut steps: u32 = 0;
        while opened.elapsed() < plan.duration {
            tokio::time::sleep_until(
                opened + plan.duration.min(std::time::Duration::from_secs(1) / plan.rate * steps),
            )
            .await;
            let poison_is_due = opened.elapsed() >= plan.poison() && self.lock().poison.is_none();
            self.step(poison_is_due).await?;
            steps += 1;
        }
        if self.lock().poison.is_none() {
            self.place(true).await?;
        }
        while !self.under_way.is_empty() {
            self.advance(0).await?;
        }
        Ok(())
    }

    async fn step(&mut self, poison_is_due: bool) -> Result<()> {
        if poison_is_due {
            return self.place(true).await;
        }
        if self.rng.usize(..VIEWED) == 0 {
            let view = Event::of(ShopEvent::Viewed).json(&json!({ "page": self.rng.u8(1..=9) }))?;
            return self.sell(view, None).await.map(drop);
        }
        if self.under_way.len() < ORDERS_UNDER_WAY {
            return self.place(false).await;
        }
        let index = self.rng.usize(..self.under_way.len());
        self.advance(index).await
    }

    /// A new order. The one that brings out the bug has no address.
    async fn place(&mut self, is_poison: bool) -> Result<()> {
        self.orders += 1;
        let mut order = Order { number: self.orders, next: ShopEvent::Placed };
        let address = if is_poison { None } else { Some("12 Post Office Lane") };
        let event = order.event(&json!({ "order": order.number, "address": address }))?;
        let Some(id) = self.sell(event, Some(&order)).await? else { return Ok(()) };
        if is_poison {
            self.lock().poison = Some((id, order.key()));
        }
        order.next = ShopEvent::Paid;
        self.under_way.push(order);
        Ok(())
    }

    /// The next step of an order. One whose transaction was rolled back is tried again another time.
    async fn advance(&mut self, index: usize) -> Result<()> {
        let order = self.under_way[index].clone();
        let event = order.event(&json!({ "order": order.number }))?;
        if self.sell(event, Some(&order)).await?.is_none() {
            return Ok(());
        }
        match order.next {
            ShopEvent::Shipped => _ = self.under_way.remove(index),
            _ => self.under_way[index].next = ShopEvent::Shipped,
        }
        Ok(())
    }

    /// One transaction: the shop's own table and the event. Answers with the event's id if it committed.
    async fn sell(&mut self, event: EventBuilder, order: Option<&Order>) -> Result<Option<EventId>> {
        let declined = self.rng.usize(..ROLLED_BACK) == 0;
        let till = Till::new(self.pool);
        let sold = self.outbox.transaction(&till, async |tx| {
            if let Some(order) = order {
                let statement = "insert into orders (number, state) values (?1, ?2)
                                 on conflict (number) do update set state = excluded.state";
                let write = sqlx::query(statement).bind(order.number.cast_signed()).bind(order.state());
                write.execute(&mut ***tx).await?;
            }
            let published = tx.publish(event).await?;
            // The bank says no, after everything was written: the whole transaction has to go.
            if declined { Err(Refusal::Declined(published.id)) } else { Ok(published) }
        });
        match sold.await {
            Ok(published) => {
                let Some(committed_at) = till.committed_at() else { return Ok(None) };
                let key = order.map(Order::key);
                let Spot { position, lane } =
                    published.spot.context("the log did not tell where the event is")?;
                let id = published.id;
                let event = Committed { id, position, lane, key, deliver_after: None };
                let mut books = self.lock();
                books.placed += u64::from(order.is_some_and(|order| order.next == ShopEvent::Placed));
                books.sold.push(Sold { event, committed_at });
                Ok(Some(id))
            }
            Err(Refusal::Declined(id)) => {
                self.lock().rolled_back.insert(id);
                Ok(None)
            }
            Err(Refusal::Failed(error)) => Err(error.context("the shop could not write")),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'a, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Order {
    fn key(&self) -> String {
        format!("order-{}", self.number)
    }

    fn event(&self, payload: &serde_json::Value) -> Result<EventBuilder> {
        Ok(Event::of(self.next).aggregate(Aggregate::Order, self.key()).json(payload)?)
    }

    /// The state of the order once its next event is committed.
    fn state(&self) -> &'static str {
        match self.next {
            ShopEvent::Placed | ShopEvent::Viewed => "placed",
            ShopEvent::Paid => "paid",
            ShopEvent::Shipped => "shipped",
        }
    }
}

/// How many orders the shop's own table has.
pub(super) async fn count_orders(pool: &SqlitePool) -> Result<u64> {
    let count: i64 = sqlx::query_scalar("select count(*) from orders")
        .fetch_one(pool)
        .await
        .context("cannot count the orders")?;
    Ok(count.cast_unsigned())
}
