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
    let conditions = vec![
        Condition::prepare(young, plan, "as it is").await?,
        Condition::prepare(&old, plan, &name).await?,
    ];
    let measured = measure_in_turns(conditions, plan, tell).await?;
    old.close().await?;
    Ok(measured)
}

async fn under_a_held_snapshot(
    young: &Shop,
    plan: &Plan,
    tell: &mut impl FnMut(&str),
) -> Result<Vec<History>> {
    tell(&format!("a snapshot held open, under load for {:?}", plan.held));
    let holder = hold_snapshot(young, plan.held).await?;
    let name = format!("a snapshot held open for {} s under load", plan.held.as_secs());
    let held = vec![Condition::prepare(young, plan, &name).await?];
    let mut measured = measure_in_turns(held, plan, tell).await?;
    holder.rollback().await.map_err(failed("let the snapshot go"))?;
    let after = vec![Condition::prepare(young, plan, "as it is, after that").await?];
    measured.extend(measure_in_turns(after, plan, tell).await?);
    Ok(measured)
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
}

async fn measure_in_turns(
    mut conditions: Vec<Condition<'_>>,
    plan: &Plan,
    tell: &mut impl FnMut(&str),
) -> Result<Vec<History>> {
    for round in 0..rounds(plan) {
        for condition in &mut conditions {
            tell(&format!("  {}, round {} of {}", condition.name, round + 1, rounds(plan)));
            condition.observe(plan, round).await?;
        }
    }
    let mut measured = Vec::new();
    for condition in conditions {
        measured.push(condition.measured().await?);
    }
    Ok(measured)
}

fn rounds(plan: &Plan) -> usize {
    plan.rounds.max(1)
}

impl<'s> Condition<'s> {
    /// Publishes what is drained later, once each round. All that is older is done by then.
    async fn prepare(shop: &'s Shop, plan: &Plan, name: &str) -> Result<Self> {
        let name = name.to_owned();
        let condition = Self { shop, name, rates: Vec::new(), p50: Vec::new(), p99: Vec::new() };
        for round in 0..rounds(plan) {
            drain(shop, condition.fresh(round), 0).await?;
        }
        shop.fill(plan.events).await?;
        Ok(condition)
    }

    fn fresh(&self, round: usize) -> Subscription {
        let name = format!("observed-{}-{round}", self.name.replace([' ', ','], "-"));
        Subscription { start: Start::Now, ..Subscription::new(name) }
    }

    /// Drains what was published, behind whatever is there already, and measures latency.
    async fn observe(&mut self, plan: &Plan, round: usize) -> Result<()> {
        let drained = drain(self.shop, self.fresh(round), plan.events).await?;
        self.rates.push(plan.events as f64 / drained.whole);
        let meter = Meter::new(self.shop, None).await?;
        let duration = plan.duration.min(Duration::from_secs(20));
        let load = Load { way: Way::Doorbell, rate: RATE, duration };
        let latency = latency::run(self.shop, None, &meter, load).await?;
        self.p50.push(latency.p50 as f64);
        self.p99.push(latency.p99 as f64);
        Ok(())
    }

    async fn measured(self) -> Result<History> {
        Ok(History {
            dead_rows: self.shop.dead_rows().await?,
            condition: self.name,
            drain: median(self.rates),
            p50: median(self.p50),
            p99: median(self.p99),
        })
    }
}
