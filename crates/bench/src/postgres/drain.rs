//! Draining a backlog to a sink that only counts and to Kafka, beside what reading and sending alone take.

use std::{sync::Arc, time::Instant};

use futures_util::TryStreamExt;
use posthaste::{Result, Subscription};
use posthaste_envelope::Format;
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
    let mut ways: Vec<Measured> =
        [Way::Bare, Way::Copy, Way::Counting, Way::Kafka, Way::KafkaRaw, Way::KafkaItself]
            .into_iter()
            .filter(|way| match way {
                Way::Bare | Way::Copy | Way::Counting => true,
                Way::Kafka | Way::KafkaRaw => plan.brokers.is_some(),
                Way::KafkaItself => plan.brokers.is_some() && plan.kafka_jars.is_some(),
            })
            .map(Measured::new)
            .collect();
    if let Some(brokers) = &plan.brokers {
        kafka::create_topic(brokers).await?;
        tell("  warming up the broker");
        kafka::producer_benchmark(plan).await?;
    }
    for round in 0..plan.rounds.max(1) {
        tell(&format!("  round {} of {}", round + 1, plan.rounds.max(1)));
        for measured in &mut ways {
            let before = meter.start().await?;
            let took = measured.way.go(shop, plan, round).await?;
            measured.rates.push(plan.events as f64 / took.whole);
            measured.late_rates.extend(took.second_half.map(|seconds| plan.events as f64 / 2.0 / seconds));
            let used = meter.stop(before, plan.events).await?;
            measured.costs.extend(Some(used).filter(|_| measured.way.is_ours()));
        }
    }
    Ok(ways.into_iter().map(Measured::drained).collect())
}

/// What the rounds of one way came to.
struct Measured {
    way: Way,
    rates: Vec<f64>,
    late_rates: Vec<f64>,
    costs: Vec<Cost>,
}

impl Measured {
    fn new(way: Way) -> Self {
        Self { way, rates: Vec::new(), late_rates: Vec::new(), costs: Vec::new() }
    }

    fn drained(self) -> Drained {
        Drained {
            way: self.way.name().to_owned(),
            rate: median(self.rates),
            second_half: (!self.late_rates.is_empty()).then(|| median(self.late_rates)),
            cost: Cost::median(&self.costs),
        }
    }
}

/// How long it took, in seconds.
pub(crate) struct Took {
    pub(crate) whole: f64,
    /// From the middle event on, where one can tell: without the start, as others say it of themselves.
    second_half: Option<f64>,
}

#[derive(Clone, Copy)]
enum Way {
    Bare,
    Copy,
    Counting,
    Kafka,
    KafkaRaw,
    KafkaItself,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Bare => "bare window read, streamed, eight columns, nothing done with it",
            Way::Copy => "COPY TO STDOUT, binary",
            Way::Counting => "relay to a counting sink",
            Way::Kafka => "relay to Kafka, acks=all",
            Way::KafkaRaw => "relay to Kafka, acks=all, the payload as it is and no headers",
            Way::KafkaItself => "Kafka's own producer benchmark, acks=all, values of 200 bytes",
        }
    }

    fn is_ours(self) -> bool {
        !matches!(self, Way::KafkaItself)
    }

    async fn go(self, shop: &Shop, plan: &Plan, round: usize) -> Result<Took> {
        let began = Instant::now();
        match self {
            Way::Bare => read_bare(shop).await?,
            Way::Copy => copy(shop).await?,
            Way::Counting => {
                return drain(shop, Subscription::new(format!("counting-{round}")), plan.events).await;
            }
            Way::Kafka => {
                return send(shop, plan, &format!("kafka-{round}"), Format::Posthaste).await;
            }
            Way::KafkaRaw => {
                return send(shop, plan, &format!("kafka-raw-{round}"), Format::Raw).await;
            }
            Way::KafkaItself => {
                return Ok(Took { whole: kafka::producer_benchmark(plan).await?, second_half: None });
            }
        }
        Ok(Took { whole: began.elapsed().as_secs_f64(), second_half: None })
    }
}

/// Delivers all events to Kafka, by a new subscription.
async fn send(shop: &Shop, plan: &Plan, name: &str, format: Format) -> Result<Took> {
    let sink = KafkaSink::new(&kafka::options(plan.brokers.as_deref().unwrap_or_default(), format)?)?;
    drain_to(shop, Subscription::new(name), Counted::around(Arc::new(sink), plan.events)).await
}

/// Delivers so many events of a subscription to a sink that only counts.
pub(crate) async fn drain(shop: &Shop, subscription: Subscription, events: u64) -> Result<Took> {
    drain_to(shop, subscription, Counted::null(events)).await
}

async fn drain_to(shop: &Shop, subscription: Subscription, sink: Counted) -> Result<Took> {
    let log = shop.another().await?;
    let began = Instant::now();
    let relay = RelayBuilder::new(log).subscribe(subscription, Arc::new(sink.clone())).start().await?;
    sink.wait().await;
    let whole = began.elapsed().as_secs_f64();
    let second_half = sink.half().map(|half| half.elapsed().as_secs_f64());
    relay.stop().await;
    Ok(Took { whole, second_half })
}

/// The read that the design measured as a ceiling: a page after the other by position, what is not committed left out.
async fn read_bare(shop: &Shop) -> Result<()> {
    const PAGE: i64 = 5_000;
    let mut connection = shop.pool.acquire().await.map_err(failed("get a connection"))?;
    let mut after = 0_i64;
    loop {
        let mut rows = sqlx::query(
            "select position, checked, id, key, event_type, topic, payload, created_at from outbox
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
    let statement = "copy (select position, checked, id, key, event_type, topic, payload, created_at from posthaste_bench.outbox
        order by position) to stdout (format binary)";
    let mut bytes = shop.pool.copy_out_raw(statement).await.map_err(failed("copy"))?;
    while let Some(part) = bytes.try_next().await.map_err(failed("copy"))? {
        std::hint::black_box(part);
    }
    Ok(())
}
