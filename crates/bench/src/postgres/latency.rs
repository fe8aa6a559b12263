//! Latency from the moment a commit returned until the destination acknowledged the event, at a steady rate, open loop.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use posthaste::{Delivery, Entry, EventId, Fault, Position, Result, Sink, Start, Subscription};
use posthaste_envelope::Format;
use posthaste_kafka::KafkaSink;
use posthaste_postgres::PostgresLog;
use posthaste_relay::{Hot, RelayBuilder};
use sqlx::Row;
use tokio::sync::{Notify, oneshot};

use super::{
    Plan, kafka,
    meter::Meter,
    report::Latency,
    shop::{Shop, failed},
};
use crate::{memory::thread_micros, null_sink::Null, waits};

/// How the relay learns of an event.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Way {
    /// It is published in the relay's process, without a key: from memory.
    Hot,
    /// It is published in the relay's process: the bell in the process.
    Doorbell,
    /// It is published elsewhere, which rings by `NOTIFY`.
    Notify,
    /// It is published elsewhere, by somebody who knows nothing of bells.
    Poll,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Hot => "hot path: from memory, in the process",
            Way::Doorbell => "doorbell in the process",
            Way::Notify => "foreign publisher with NOTIFY",
            Way::Poll => "foreign publisher, plain SQL, no NOTIFY",
        }
    }
}

/// What is published, and for how long.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) way: Way,
    pub(crate) rate: u32,
    pub(crate) duration: Duration,
}

/// What is published before, and not counted: connections, caches and a JVM have to get warm.
const WARM_UP: Duration = Duration::from_secs(5);

impl Load {
    /// How many are published, those to get warm included.
    fn events(self) -> u64 {
        self.warm_up() + u64::from(self.rate) * self.duration.as_secs().max(1)
    }

    /// How many of them are not counted.
    fn warm_up(self) -> u64 {
        u64::from(self.rate) * WARM_UP.as_secs()
    }
}

pub(crate) async fn measure(plan: &Plan, meter: &Meter, tell: &mut impl FnMut(&str)) -> Result<Vec<Latency>> {
    let mut measured = Vec::new();
    for rate in &plan.rates {
        for way in [Way::Hot, Way::Doorbell, Way::Notify, Way::Poll] {
            tell(&format!("latency at {rate} events/s for {:?}: {}", plan.duration, way.name()));
            let shop = Shop::open(&plan.database).await?;
            measured.push(
                run(
                    &shop,
                    plan.brokers.as_deref(),
                    meter,
                    Load { way, rate: *rate, duration: plan.duration },
                )
                .await?,
            );
        }
    }
    Ok(measured)
}

/// One run, to Kafka if there is one.
pub(crate) async fn run(shop: &Shop, brokers: Option<&str>, meter: &Meter, load: Load) -> Result<Latency> {
    let Load { way, rate, .. } = load;
    let events = load.events();
    let inner: Arc<dyn Sink> = match brokers {
        Some(brokers) => {
            kafka::create_topic(brokers).await?;
            Arc::new(KafkaSink::new(&kafka::options(brokers, Format::Posthaste)?)?)
        }
        None => Arc::new(Null),
    };
    let watch =
        Arc::new(Watch { inner, wanted: events, acknowledged: Mutex::default(), done: Notify::new() });
    // Whatever the log has already is not for it.
    let fresh = Subscription { start: Start::Now, ..Subscription::new("latency") };
    let relay =
        RelayBuilder::new(shop.another().await?).subscribe(fresh, Arc::clone(&watch) as _).start().await?;
    let before = meter.start().await?;
    let published = publish_apart(shop, relay.hot(), load).await?;
    watch.done.notified().await;
    let used = meter.stop(before, events).await?;
    relay.stop().await;
    let acknowledged = watch.acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
    let each = used.relay_micros.zip(published.micros);
    let share = each.map(|(all, publisher)| (all - publisher / events as f64) * f64::from(rate) / 1e6);
    summarise(way, rate, &published.committed, &acknowledged, share)
}

/// Notes when the sink behind it had acknowledged an event.
struct Watch {
    inner: Arc<dyn Sink>,
    wanted: u64,
    acknowledged: Mutex<HashMap<EventId, Instant>>,
    done: Notify,
}

#[async_trait]
impl Sink for Watch {
    async fn deliver(&self, batch: &[Entry], until: Instant) -> Vec<Delivery> {
        let deliveries = self.inner.deliver(batch, until).await;
        let now = Instant::now();
        let mut acknowledged = self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
        for (entry, delivery) in batch.iter().zip(&deliveries) {
            if *delivery == Delivery::Delivered {
                acknowledged.entry(entry.event.id).or_insert(now);
            }
        }
        if acknowledged.len() as u64 >= self.wanted {
            self.done.notify_one();
        }
        deliveries
    }

    async fn ping(&self) -> std::result::Result<(), Fault> {
        self.inner.ping().await
    }
}

/// When each commit returned, and what publishing took of the processor.
struct Published {
    committed: HashMap<EventId, Instant>,
    micros: Option<f64>,
}

/// Publishes in a thread of its own, so that what the relay uses can be told from what its publisher uses.
async fn publish_apart(shop: &Shop, hot: Hot, load: Load) -> Result<Published> {
    let (connecting, log) = (shop.connect(), Arc::clone(&shop.log));
    let (done, published) = oneshot::channel();
    let publishing = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(failed("start a runtime"))?;
        let committed = runtime.block_on(async {
            let publisher = Publisher { pool: connecting.await?, log, hot, way: load.way };
            publisher.run(load).await
        })?;
        Ok(Published { committed, micros: thread_micros() })
    };
    let thread = std::thread::Builder::new().name("publisher".to_owned());
    thread.spawn(move || done.send(publishing())).map_err(failed("start a thread"))?;
    published.await.map_err(failed("publish"))?
}

struct Publisher {
    pool: posthaste_postgres::PgPool,
    log: Arc<PostgresLog>,
    hot: Hot,
    way: Way,
}

impl Publisher {
    /// Publishes at the given rate, each event on time whether or not the one before has committed. Answers when each commit
    /// returned, of those that count.
    async fn run(self, load: Load) -> Result<HashMap<EventId, Instant>> {
        let this = Arc::new(self);
        let mut ticks = tokio::time::interval(Duration::from_secs(1) / load.rate);
        let mut publishing = tokio::task::JoinSet::new();
        let mut committed = HashMap::new();
        let mut note = |(number, id, at): (u64, EventId, Instant)| {
            if number >= load.warm_up() {
                committed.insert(id, at);
            }
        };
        for number in 0..load.events() {
            ticks.tick().await;
            let this = Arc::clone(&this);
            publishing.spawn(async move { this.publish(number).await });
            while let Some(Ok(done)) = publishing.try_join_next() {
                note(done?);
            }
        }
        for done in publishing.join_all().await {
            note(done?);
        }
        Ok(committed)
    }

    async fn publish(&self, number: u64) -> Result<(u64, EventId, Instant)> {
        let key = (self.way != Way::Hot).then(|| format!("customer-{:05}", number % 1_000));
        let row = sqlx::query(
            "insert into outbox (topic, event_type, key, payload) values ('orders', 'order.placed', $1, $2)
             returning id::text, position, outbox_lane(key, id)",
        )
        .bind(key)
        .bind(format!("{{\"order\":{number},\"note\":\"{}\"}}", "x".repeat(80)))
        .fetch_one(&self.pool)
        .await
        .map_err(failed("publish"))?;
        // The insert was its own transaction: it is committed.
        let returned = Instant::now();
        let id: &str = row.try_get(0).map_err(failed("publish"))?;
        let id: EventId = id.parse()?;
        match self.way {
            Way::Hot => self.hot.dispatch(&[entry(id, &row, number)?]),
            Way::Doorbell => self.hot.ring(),
            Way::Notify => self.log.ring(),
            Way::Poll => {}
        }
        Ok((number, id, returned))
    }
}

/// The event as the library would hand it to the hot path.
fn entry(id: EventId, row: &sqlx::postgres::PgRow, number: u64) -> Result<Entry> {
    use posthaste::{Event, EventRules, Lane, Payload, Stamp, Timestamp};
    use posthaste_core::Origin;
    let payload = Payload::Json(format!("{{\"order\":{number},\"note\":\"{}\"}}", "x".repeat(80)));
    let draft = Event::of("order.placed").topic("orders").payload(payload);
    let event = draft.build(&EventRules::default(), Stamp { id, now: Timestamp(0) })?;
    let lane: i16 = row.try_get(2).map_err(failed("publish"))?;
    Ok(Entry {
        position: Position(row.try_get(1).map_err(failed("publish"))?),
        lane: Lane(u8::try_from(lane).unwrap_or_default()),
        event,
        origin: Origin::Log,
        attempts: 0,
        blocked: false,
        delayed: false,
        defect: None,
    })
}

fn summarise(
    way: Way,
    rate: u32,
    committed: &HashMap<EventId, Instant>,
    acknowledged: &HashMap<EventId, Instant>,
    cpu_share: Option<f64>,
) -> Result<Latency> {
    let histogram = waits::between(committed, acknowledged)?;
    Ok(Latency {
        way: way.name().to_owned(),
        rate,
        events: histogram.len(),
        p50: histogram.value_at_quantile(0.5),
        p99: histogram.value_at_quantile(0.99),
        max: histogram.max(),
        cpu_share,
    })
}
