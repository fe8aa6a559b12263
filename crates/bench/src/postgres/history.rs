//! What a snapshot that somebody holds open, and a long history, change: nothing, if the design is right.

use std::time::{Duration, Instant};

use posthaste::{Result, Start, Subscription};

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

pub(crate) async fn measure(plan: &Plan, tell: &mut impl FnMut(&str)) -> Result<Vec<History>> {
    let mut measured = Vec::new();
    let shop = Shop::open(&plan.database).await?;
    tell("as it is");
    measured.push(observe(&shop, plan, "as it is").await?);
    tell(&format!("a snapshot held open, under load for {:?}", plan.held));
    let mut holder = shop.pool.begin().await.map_err(failed("hold a snapshot"))?;
    for statement in ["set transaction isolation level repeatable read", "select count(*) from outbox"] {
        sqlx::query(statement).execute(&mut *holder).await.map_err(failed("hold a snapshot"))?;
    }
    let began = Instant::now();
    while began.elapsed() < plan.held {
        let meter = Meter::new(&shop, None).await?;
        latency::run(
            &shop,
            None,
            &meter,
            Load { way: Way::Doorbell, rate: 500, duration: Duration::from_secs(10) },
        )
        .await?;
    }
    let condition = format!("a snapshot held open for {} s under load", began.elapsed().as_secs());
    measured.push(observe(&shop, plan, &condition).await?);
    holder.rollback().await.map_err(failed("let the snapshot go"))?;
    let condition = format!("{} delivered events of history", plan.history);
    tell(&condition);
    let shop = Shop::open(&plan.database).await?;
    shop.fill(plan.history).await?;
    drain(&shop, Subscription::new("history"), plan.history).await?;
    measured.push(observe(&shop, plan, &condition).await?);
    shop.close().await?;
    Ok(measured)
}

/// Drains what is published now, behind whatever is there already, and measures latency.
async fn observe(shop: &Shop, plan: &Plan, condition: &str) -> Result<History> {
    let fresh = |round| {
        let name = format!("observed-{}-{round}", condition.replace(' ', "-"));
        Subscription { start: Start::Now, ..Subscription::new(name) }
    };
    // Made before the events, so that all that is older is done.
    for round in 0..plan.rounds.max(1) {
        drain(shop, fresh(round), 0).await?;
    }
    shop.fill(plan.events).await?;
    let mut rates = Vec::new();
    for round in 0..plan.rounds.max(1) {
        rates.push(plan.events as f64 / drain(shop, fresh(round), plan.events).await?.whole);
    }
    let meter = Meter::new(shop, None).await?;
    let load = Load { way: Way::Doorbell, rate: 500, duration: plan.duration.min(Duration::from_secs(20)) };
    let latency = latency::run(shop, None, &meter, load).await?;
    Ok(History {
        condition: condition.to_owned(),
        drain: median(rates),
        p50: latency.p50,
        p99: latency.p99,
        dead_rows: shop.dead_rows().await?,
    })
}
