//! Draining a backlog to a sink that only counts and to Kafka, beside what reading and sending alone take.

use std::{sync::Arc, time::Instant};

use futures_util::TryStreamExt;
use posthaste::{Result, Subscription};
use posthaste_kafka::KafkaSink;
use posthaste_relay::RelayBuilder;
use sqlx::{Row, postgres::PgPoolCopyExt};

use super::{
    Plan, kafka,
    meter::Meter,
    report::{Cost, Drained},
    shop::{Shop, failed},
};
use crate::{median, null_sink::Counted};

pub(crate) async fn measure(
    shop: &Shop,
    meter: &Meter,
    plan: &Plan,
    tell: &mut impl FnMut(&str),
) -> Result<Vec<Drained>> {
    let mut ways = [Way::Bare, Way::Copy, Way::Counting, Way::Kafka, Way::KafkaItself]
        .into_iter()
        .filter(|way| match way {
            Way::Bare | Way::Copy | Way::Counting => true,
            Way::Kafka => plan.brokers.is_some(),
            Way::KafkaItself => plan.brokers.is_some() && plan.kafka_jars.is_some(),
        })
        .map(|way| (way, Vec::new(), None))
        .collect::<Vec<_>>();
    if let Some(brokers) = &plan.brokers {
        kafka::create_topic(brokers).await?;
    }
    for round in 0..plan.rounds.max(1) {
        tell(&format!("  round {} of {}", round + 1, plan.rounds.max(1)));
        for (way, rates, cost) in &mut ways {
            let before = meter.start().await?;
            let seconds = way.go(shop, plan, round).await?;
            rates.push(plan.events as f64 / seconds);
            let used = meter.stop(before, plan.events).await?;
            *cost = Some(used).filter(|_| way.is_ours());
        }
    }
    Ok(ways
        .into_iter()
        .map(|(way, rates, cost): (Way, Vec<f64>, Option<Cost>)| Drained {
            way: way.name().to_owned(),
            rate: median(rates),
            cost,
        })
        .collect())
}

#[derive(Clone, Copy)]
enum Way {
    Bare,
    Copy,
    Counting,
    Kafka,
    KafkaItself,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Bare => "bare window read, streamed, eight columns, nothing done with it",
            Way::Copy => "COPY TO STDOUT, binary",
            Way::Counting => "relay to a counting sink",
            Way::Kafka => "relay to Kafka, acks=all",
            Way::KafkaItself => "Kafka's own producer benchmark, acks=all, values of 200 bytes",
        }
    }

    fn is_ours(self) -> bool {
        !matches!(self, Way::KafkaItself)
    }

    /// Answers in seconds.
    async fn go(self, shop: &Shop, plan: &Plan, round: usize) -> Result<f64> {
        let began = Instant::now();
        match self {
            Way::Bare => read_bare(shop).await?,
            Way::Copy => copy(shop).await?,
            Way::Counting => {
                return drain(shop, Subscription::new(format!("counting-{round}")), plan.events).await;
            }
            Way::Kafka => {
                let sink = KafkaSink::new(&kafka::options(plan.brokers.as_deref().unwrap_or_default())?)?;
                let sink = Counted::around(Arc::new(sink), plan.events);
                return drain_to(shop, Subscription::new(format!("kafka-{round}")), sink).await;
            }
            Way::KafkaItself => return kafka::producer_benchmark(plan).await,
        }
        Ok(began.elapsed().as_secs_f64())
    }
}

/// Delivers so many events of a subscription to a sink that only counts. Answers in seconds.
pub(crate) async fn drain(shop: &Shop, subscription: Subscription, events: u64) -> Result<f64> {
    drain_to(shop, subscription, Counted::null(events)).await
}

async fn drain_to(shop: &Shop, subscription: Subscription, sink: Counted) -> Result<f64> {
    let log = shop.another().await?;
    let began = Instant::now();
    let relay = RelayBuilder::new(log).subscribe(subscription, Arc::new(sink.clone())).start().await?;
    sink.wait().await;
    let took = began.elapsed().as_secs_f64();
    relay.stop().await;
    Ok(took)
}

/// The read that the design measured as a ceiling: a page after the other by position, what is not committed left out.
async fn read_bare(shop: &Shop) -> Result<()> {
    const PAGE: i64 = 5_000;
    let mut connection = shop.pool.acquire().await.map_err(failed("get a connection"))?;
    let mut after = 0_i64;
    loop {
        let mut rows = sqlx::query(
            "select position, lane, id, key, event_type, topic, payload, created_at from outbox
             where position > $1 and pg_visible_in_snapshot(xid, (select pg_current_snapshot()))
             order by position limit $2",
        )
        .bind(after)
        .bind(PAGE)
        .fetch(&mut *connection);
        let mut count = 0;
        while let Some(row) = rows.try_next().await.map_err(failed("read"))? {
            after = row.get(0);
            let (key, payload): (Option<&str>, &str) = (row.get(3), row.get(6));
            std::hint::black_box((key, payload));
            count += 1;
        }
        if count < PAGE {
            return Ok(());
        }
    }
}

async fn copy(shop: &Shop) -> Result<()> {
    let statement = "copy (select position, lane, id, key, event_type, topic, payload, created_at from posthaste_bench.outbox
        order by position) to stdout (format binary)";
    let mut bytes = shop.pool.copy_out_raw(statement).await.map_err(failed("copy"))?;
    while let Some(part) = bytes.try_next().await.map_err(failed("copy"))? {
        std::hint::black_box(part);
    }
    Ok(())
}
