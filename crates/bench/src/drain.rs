//! Draining a backlog, beside a bare `SELECT` loop over the same rows: what the engine adds to reading.

use std::time::Instant;

use futures_util::TryStreamExt;
use posthaste::{Result, Subscription};
use sqlx::Row;

use crate::{
    Plan, median,
    memory::{cpu_micros, peak_mb, reset_peak},
    null_sink::Counted,
    report::Drain,
    shop::{Shop, unexpected},
};

/// As many rows at a time as the relay reads.
const PAGE: i64 = 4_096;

pub(crate) async fn measure(plan: &Plan, tell: &mut impl FnMut(&str)) -> Result<Drain> {
    let shop = Shop::open().await?;
    tell(&format!("  publishing {} events", plan.events));
    shop.fill(plan.events).await?;
    let (mut bare, mut lean, mut relay, mut ratio) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut peak, mut cpu) = (None, None);
    for round in 0..plan.rounds.max(1) {
        tell(&format!("  round {} of {}", round + 1, plan.rounds.max(1)));
        let all = plan.events as f64 / read_bare(&shop, ALL_COLUMNS).await?;
        let five = plan.events as f64 / read_bare(&shop, FIVE_COLUMNS).await?;
        reset_peak();
        let before = cpu_micros();
        let drained = plan.events as f64 / drain(&shop, round, plan.events).await?;
        peak = peak.max_by_float(peak_mb());
        cpu = before.zip(cpu_micros()).map(|(before, after)| (after - before) / plan.events as f64);
        bare.push(all);
        lean.push(five);
        relay.push(drained);
        ratio.push(drained / all.max(five));
    }
    Ok(Drain {
        events: plan.events,
        bare: median(bare),
        bare_lean: median(lean),
        relay: median(relay),
        ratio: median(ratio),
        peak_rss_mb: peak,
        cpu_micros_per_event: cpu,
    })
}

/// A new subscription reads everything there is. Answers in seconds.
async fn drain(shop: &Shop, round: usize, events: u64) -> Result<f64> {
    let sink = Counted::null(events);
    let began = Instant::now();
    let relay = shop
        .outbox
        .relay()
        .subscribe(Subscription::new(format!("drain-{round}")), sink.clone())
        .start()
        .await?;
    sink.wait().await;
    let took = began.elapsed().as_secs_f64();
    relay.stop().await;
    Ok(took)
}

/// What anybody would write, with every column of an event.
const ALL_COLUMNS: &str =
    "select position, key, topic, event_type, payload, id, lane, event_version, aggregate_type, aggregate_id,
    version, tenant_id, content_type, headers, correlation_id, idempotency_key, deliver_after, occurred_at
    from outbox where position > ?1 order by position limit ?2";

/// The least that anybody could deliver from.
const FIVE_COLUMNS: &str = "select position, key, topic, event_type, payload from outbox where position > ?1 order by position limit ?2";

/// Pages by position; what is needed to deliver is looked at. Answers in seconds.
async fn read_bare(shop: &Shop, statement: &'static str) -> Result<f64> {
    let mut connection = shop.pool.acquire().await.map_err(unexpected("get a connection"))?;
    let began = Instant::now();
    let mut after = 0_i64;
    loop {
        let mut rows = sqlx::query(statement).bind(after).bind(PAGE).fetch(&mut *connection);
        let mut count = 0;
        while let Some(row) = rows.try_next().await.map_err(unexpected("read"))? {
            after = row.get(0);
            let (key, topic, event_type): (Option<String>, String, String) =
                (row.get(1), row.get(2), row.get(3));
            let payload: Vec<u8> = row.get_unchecked(4);
            std::hint::black_box((key, topic, event_type, payload));
            count += 1;
        }
        if count < PAGE {
            return Ok(began.elapsed().as_secs_f64());
        }
    }
}

/// The larger of two, where either may be unknown.
trait MaxByFloat {
    fn max_by_float(self, other: Self) -> Self;
}

impl MaxByFloat for Option<f64> {
    fn max_by_float(self, other: Self) -> Self {
        match (self, other) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        }
    }
}
