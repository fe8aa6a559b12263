//! What the shop does all day: orders are placed, paid and shipped, and now and then something is odd about one.

use std::time::Duration;

use anyhow::Result;
use fastrand::Rng;
use posthaste::{Event, EventBuilder, Outbox, sqlite::SqlitePool};
use serde_json::{Value, json};
use tokio::time::MissedTickBehavior;

/// So many orders are under way at the same time, so that the events of different keys mix.
const UNDER_WAY: usize = 12;
/// One step in so many is a page that was viewed: an event without a key.
const VIEWED: usize = 5;
/// How often an order has no address, a card has expired, and a reminder is written.
const ODD: Duration = Duration::from_secs(12);
/// When a reminder is due.
const REMINDER: Duration = Duration::from_secs(15 * 60);
const CUSTOMERS: [&str; 5] = ["Ada", "Grace", "Edsger", "Barbara", "<b>Bobby</b>"];
const TENANTS: [&str; 3] = ["north", "south", "west"];

pub(super) struct Business<'a> {
    outbox: &'a Outbox,
    pool: &'a SqlitePool,
    rng: Rng,
    orders: u64,
    under_way: Vec<Order>,
}

#[derive(Clone, Copy)]
struct Order {
    number: u64,
    paid: bool,
}

/// What is odd about the next step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Oddity {
    NoAddress,
    ExpiredCard,
}

impl<'a> Business<'a> {
    pub(super) fn new(outbox: &'a Outbox, pool: &'a SqlitePool, seed: u64) -> Self {
        Self { outbox, pool, rng: Rng::with_seed(seed), orders: 0, under_way: Vec::new() }
    }

    /// So many events a second, for ever.
    pub(super) async fn run(mut self, rate: u32) -> Result<()> {
        let mut ticks = tokio::time::interval(Duration::from_secs(1) / rate);
        // A machine that was busy elsewhere does not make up for it.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut odd = tokio::time::interval(ODD);
        loop {
            tokio::select! {
                _ = ticks.tick() => self.step().await?,
                _ = odd.tick() => self.be_odd().await?,
            }
        }
    }

    async fn step(&mut self) -> Result<()> {
        if self.rng.usize(..VIEWED) == 0 {
            let view = json!({ "page": format!("/shelf/{}", self.rng.u8(1..=9)) });
            return self.publish(Event::of("page.viewed").topic("pages").json(&view)?).await;
        }
        if self.under_way.len() < UNDER_WAY {
            return self.place(None).await;
        }
        let index = self.rng.usize(..self.under_way.len());
        let order = self.under_way[index];
        if !order.paid {
            self.under_way[index].paid = true;
            return self.pay(order.number, None).await;
        }
        self.under_way.remove(index);
        let parcel =
            json!({ "order": order.number, "parcel": format!("PH{:08}", self.rng.u32(..100_000_000)) });
        self.publish(about(order.number, "order.shipped").json(&parcel)?).await
    }

    /// What every page is to have something of.
    async fn be_odd(&mut self) -> Result<()> {
        self.place(Some(Oddity::NoAddress)).await?;
        self.orders += 1;
        self.pay(self.orders, Some(Oddity::ExpiredCard)).await?;
        let reminder = json!({ "order": self.orders, "text": "How was it?" });
        self.publish(about(self.orders, "order.reminder").deliver_in(REMINDER).json(&reminder)?).await
    }

    async fn place(&mut self, oddity: Option<Oddity>) -> Result<()> {
        self.orders += 1;
        self.under_way.push(Order { number: self.orders, paid: false });
        let address = (oddity != Some(Oddity::NoAddress)).then_some("12 Post Office Lane");
        let customer = *self.rng.choice(&CUSTOMERS).unwrap_or(&"Ada");
        let items: Vec<Value> = (0..self.rng.usize(1..4))
            .map(|_| json!({ "sku": format!("SKU-{:03}", self.rng.u16(1..400)), "count": self.rng.u8(1..4) }))
            .collect();
        let order = json!({ "order": self.orders, "customer": customer, "address": address, "items": items, "total": self.amount() });
        self.publish(about(self.orders, "order.placed").json(&order)?).await
    }

    async fn pay(&mut self, number: u64, oddity: Option<Oddity>) -> Result<()> {
        let state = if oddity == Some(Oddity::ExpiredCard) { "expired" } else { "good" };
        let card = json!({ "number": "4111 1111 1111 1111", "state": state });
        let payment = json!({ "order": number, "amount": self.amount(), "card": card });
        self.publish(about(number, "order.paid").json(&payment)?).await
    }

    fn amount(&mut self) -> f64 {
        f64::from(self.rng.u32(500..20_000)) / 100.0
    }

    async fn publish(&mut self, event: EventBuilder) -> Result<()> {
        let tenant = *self.rng.choice(&TENANTS).unwrap_or(&"north");
        let event =
            event.tenant(tenant).header("source", "shop").correlation(format!("{:016x}", self.rng.u64(..)));
        self.outbox
            .transaction(self.pool, async |tx| tx.publish(event).await.map(drop).map_err(anyhow::Error::from))
            .await
    }
}

fn about(order: u64, event_type: &'static str) -> EventBuilder {
    Event::of(event_type).topic("orders").aggregate("order", format!("order-{order}")).next_version()
}
