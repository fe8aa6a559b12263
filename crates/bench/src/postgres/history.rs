//! What a snapshot that somebody holds open, and a long history, change: nothing, if the design is right.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use posthaste::{Result, Start, Subscription};
use posthaste_relay::RelayBuilder;

use super::{
    Plan, latency,
    latency::{Load, Way},
    meter::Meter,
    report::History,
    shop::{Shop, failed},
};
use crate::null_sink::Counted;

pub(crate) async fn measure(plan: &Plan, tell: &mut impl FnMut(&str)) -> Result<Vec<History>> {
    let mut measured = Vec::new();
    let shop = Shop::open(&plan.database).await?;
    tell("as it is");
    measured.push(observe(&shop, plan, "as it is".to_owned()).await?);
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
    measured.push(observe(&shop, plan, condition).await?);
    holder.rollback().await.map_err(failed("let the snapshot go"))?;
    tell(&format!("{} delivered events of history", plan.history));
    let shop = Shop::open(&plan.database).await?;
    shop.fill(plan.history).await?;
    measured.push(observe(&shop, plan, format!("{} delivered events of history", plan.history)).await?);
    shop.close().await?;
    Ok(measured)
}

/// Drains what is published now, behind whatever is there already, and measures latency.
async fn observe(shop: &Shop, plan: &Plan, condition: String) -> Result<History> {
    let log = shop.another().await?;
    let subscription =
        Subscription { start: Start::Now, ..Subscription::new(format!("observed-{}", condition.len())) };
    // Made before the events, so that all that is older is done.
    let waiting = RelayBuilder::new(Arc::clone(&log) as _)
        .subscribe(subscription.clone(), Arc::new(Counted::null(u64::MAX)));
    waiting.start().await?.stop().await;
    shop.fill(plan.events).await?;
    let sink = Counted::null(plan.events);
    let began = Instant::now();
    let relay = RelayBuilder::new(log).subscribe(subscription, Arc::new(sink.clone())).start().await?;
    sink.wait().await;
    let drain = plan.events as f64 / began.elapsed().as_secs_f64();
    relay.stop().await;
    let meter = Meter::new(shop, None).await?;
    let latency = latency::run(
        shop,
        None,
        &meter,
        Load { way: Way::Doorbell, rate: 500, duration: plan.duration.min(Duration::from_secs(20)) },
    )
    .await?;
    Ok(History { condition, drain, p50: latency.p50, p99: latency.p99, dead_rows: shop.dead_rows().await? })
}
