//! What a snapshot that somebody holds open, and a long history, change: nothing, if the design is right.
//!
//! What is compared is measured in turns, or right after one another: the machine is not the same from one minute to the next.

use std::time::{Duration, Instant};

use posthaste::{Result, Start, Subscription};
use sqlx::{Postgres, Transaction};

use super::{
    Plan,
    drain::drain,
    latency,
    latency::{Load, Way},
    meter::Meter,
    report::History,
    shop::{Shop, failed},
};
use crate::median;

/// At this rate latency is measured, and events are published while a snapshot is held.
const RATE: u32 = 500;

pub(crate) async fn measure(plan: &Plan, tell: &mut impl FnMut(&str)) -> Result<Vec<History>> {
    let young = Shop::open(&plan.database).await?;
    let mut measured = beside_a_long_history(&young, plan, tell).await?;
    measured.extend(under_a_held_snapshot(&young, plan, tell).await?);
    young.close().await?;
    Ok(measured)
}

async fn beside_a_long_history(
    young: &Shop,
    plan: &Plan,
    tell: &mut impl FnMut(&str),
) -> Result<Vec<History>> {
    tell(&format!("publishing and delivering {} events of history", plan.history));
    let old = Shop::open_in(&plan.database, "posthaste_bench_old").await?;
    old.fill(plan.history).await?;
    drain(&old, Subscription::new("history"), plan.history).await?;
    let name = format!("{} delivered events of history", plan.history);
    let mut conditions = [Condition::new(young, "as it is"), Condition::new(&old, &name)];
    for round in 0..rounds(plan) {
        for condition in &mut conditions {
            tell(&format!("  {}, round {} of {}", condition.name, round + 1, rounds(plan)));
            tell(&condition.observe(plan, round).await?);
        }
    }
    let measured = conditions.map(Condition::measured).into();
    old.close().await?;
    Ok(measured)
}

async fn under_a_held_snapshot(
    young: &Shop,
    plan: &Plan,
    tell: &mut impl FnMut(&str),
) -> Result<Vec<History>> {
    let name = format!("a snapshot held open for {} s under load", plan.held.as_secs());
    let mut held = Condition::new(young, &name);
    let mut after = Condition::new(young, "as it is, right after that");
    for round in 0..rounds(plan) {
        tell(&format!("  {name}, and right after that, round {} of {}", round + 1, rounds(plan)));
        let holder = hold_snapshot(young, plan.held).await?;
        tell(&held.observe(plan, round).await?);
        holder.rollback().await.map_err(failed("let the snapshot go"))?;
        tell(&after.observe(plan, round).await?);
    }
    Ok(vec![held.measured(), after.measured()])
}

/// Takes a snapshot, and publishes and delivers for so long.
async fn hold_snapshot(shop: &Shop, held: Duration) -> Result<Transaction<'static, Postgres>> {
    let mut holder = shop.pool.begin().await.map_err(failed("hold a snapshot"))?;
    for statement in ["set transaction isolation level repeatable read", "select count(*) from outbox"] {
        sqlx::query(statement).execute(&mut *holder).await.map_err(failed("hold a snapshot"))?;
    }
    let began = Instant::now();
    while began.elapsed() < held {
        let meter = Meter::new(shop, None).await?;
        let load = Load { way: Way::Doorbell, rate: RATE, duration: Duration::from_secs(10) };
        latency::run(shop, None, &meter, load).await?;
    }
    Ok(holder)
}

/// Something under which the same is measured several times.
struct Condition<'s> {
    shop: &'s Shop,
    name: String,
    rates: Vec<f64>,
    p50: Vec<f64>,
    p99: Vec<f64>,
    /// The most of all rounds.
    dead_rows: i64,
}

fn rounds(plan: &Plan) -> usize {
    plan.rounds.max(1)
}

impl<'s> Condition<'s> {
    fn new(shop: &'s Shop, name: &str) -> Self {
        let (rates, p50, p99) = (Vec::new(), Vec::new(), Vec::new());
        Self { shop, name: name.to_owned(), rates, p50, p99, dead_rows: 0 }
    }

    /// Publishes and drains, behind whatever is there already, and measures latency. Answers what came of it in words.
    async fn observe(&mut self, plan: &Plan, round: usize) -> Result<String> {
        let name = format!("observed-{}-{round}", self.name.replace([' ', ','], "-"));
        let fresh = Subscription { start: Start::Now, ..Subscription::new(name) };
        // Now is before what is published next.
        drain(self.shop, fresh.clone(), 0).await?;
        self.shop.fill(plan.events).await?;
        let drained = drain(self.shop, fresh, plan.events).await?;
        let rate = plan.events as f64 / drained.whole;
        self.rates.push(rate);
        let meter = Meter::new(self.shop, None).await?;
        let duration = plan.duration.min(Duration::from_secs(20));
        let load = Load { way: Way::Doorbell, rate: RATE, duration };
        let latency = latency::run(self.shop, None, &meter, load).await?;
        self.p50.push(latency.p50 as f64);
        self.p99.push(latency.p99 as f64);
        self.dead_rows = self.dead_rows.max(self.shop.dead_rows().await?);
        Ok(format!("    {rate:.0} events/s; {latency}"))
    }

    fn measured(self) -> History {
        History {
            condition: self.name,
            drain: median(self.rates),
            p50: median(self.p50),
            p99: median(self.p99),
            dead_rows: self.dead_rows,
        }
    }
}
