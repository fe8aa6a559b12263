//! Latency from the moment a commit returned until the destination acknowledged the event, at a steady rate, open loop. Beside it what
//! the destination and the machine take by themselves: the publisher sends after its commit, without a relay.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use posthaste::{Delivery, Entry, EventId, Fault, Result, Sink, Start, Subscription};
use posthaste_envelope::Format;
use posthaste_kafka::KafkaSink;
use posthaste_relay::{Relay, RelayBuilder};
use tokio::sync::Notify;

use super::{
    Plan, kafka,
    meter::Meter,
    publisher::{self, Then},
    report::Latency,
    shop::Shop,
};
use crate::{null_sink::Null, waits};

/// How the relay learns of an event.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Way {
    /// It does not: the publisher sends it by itself, and if it dies before that nobody ever will.
    Unaided,
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
    const ALL: [Way; 5] = [Way::Unaided, Way::Hot, Way::Doorbell, Way::Notify, Way::Poll];

    fn name(self) -> &'static str {
        match self {
            Way::Unaided => "no relay: sent by the publisher after its commit",
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
    pub(super) fn events(self) -> u64 {
        self.warm_up() + u64::from(self.rate) * self.duration.as_secs().max(1)
    }

    /// How many of them are not counted.
    pub(super) fn warm_up(self) -> u64 {
        u64::from(self.rate) * WARM_UP.as_secs()
    }
}

pub(crate) async fn measure(plan: &Plan, meter: &Meter, tell: &mut impl FnMut(&str)) -> Result<Vec<Latency>> {
    let mut measured = Vec::new();
    for rate in &plan.rates {
        let mut rounds: [Vec<Latency>; Way::ALL.len()] = Default::default();
        // In turns, each round beginning with another way: the machine is not the same from one minute to the next.
        for round in 0..plan.rounds.max(1) {
            for step in 0..Way::ALL.len() {
                let place = (round + step) % Way::ALL.len();
                let load = Load { way: Way::ALL[place], rate: *rate, duration: plan.duration };
                tell(&format!("latency at {rate} events/s, round {}: {}", round + 1, load.way.name()));
                let shop = Shop::open(&plan.database).await?;
                let latency = run(&shop, plan.brokers.as_deref(), meter, load).await?;
                tell(&format!("  {latency}"));
                rounds[place].push(latency);
            }
        }
        measured.extend(rounds.iter().filter_map(|rounds| Latency::median(rounds)));
    }
    Ok(measured)
}

/// One run, to Kafka if there is one.
pub(crate) async fn run(shop: &Shop, brokers: Option<&str>, meter: &Meter, load: Load) -> Result<Latency> {
    let events = load.events();
    let watch = Arc::new(Watch {
        inner: sink(brokers).await?,
        wanted: events,
        delivered: Mutex::default(),
        done: Notify::new(),
    });
    let relay = match load.way {
        Way::Unaided => None,
        _ => Some(start_relay(shop, &watch).await?),
    };
    let then = match (&relay, load.way) {
        (None, _) => Then::Deliver(Arc::clone(&watch) as _),
        (Some(relay), Way::Hot) => Then::Dispatch(relay.hot()),
        (Some(relay), Way::Doorbell) => Then::Ring(relay.hot()),
        (_, Way::Notify) => Then::Notify(Arc::clone(&shop.log)),
        (_, Way::Poll | Way::Unaided) => Then::Nothing,
    };
    let before = meter.start().await?;
    let published = publisher::publish_apart(shop, then, load).await?;
    watch.done.notified().await;
    let used = meter.stop(before, events).await?;
    // Without a relay there is nothing but the publisher.
    let each = used.relay_micros.zip(published.micros).filter(|_| relay.is_some());
    let share = each.map(|(all, publisher)| (all - publisher / events as f64) * f64::from(load.rate) / 1e6);
    if let Some(relay) = relay {
        relay.stop().await;
    }
    let delivered = watch.delivered.lock().unwrap_or_else(PoisonError::into_inner);
    summarise(load, &published.committed, &delivered, share)
}

async fn sink(brokers: Option<&str>) -> Result<Arc<dyn Sink>> {
    let Some(brokers) = brokers else { return Ok(Arc::new(Null)) };
    kafka::create_topic(brokers).await?;
    Ok(Arc::new(KafkaSink::new(&kafka::options(brokers, Format::Posthaste)?)?))
}

/// So many relays were started; each has a subscription of its own.
static RELAYS: AtomicU64 = AtomicU64::new(0);

/// A relay that delivers what is published from now on.
async fn start_relay(shop: &Shop, watch: &Arc<Watch>) -> Result<Relay> {
    let name = format!("latency-{}", RELAYS.fetch_add(1, Ordering::Relaxed));
    let fresh = Subscription { start: Start::Now, ..Subscription::new(name) };
    RelayBuilder::new(shop.another().await?).subscribe(fresh, Arc::clone(watch) as _).start().await
}

/// Notes when the sink behind it was given an event, and when it had acknowledged it.
struct Watch {
    inner: Arc<dyn Sink>,
    wanted: u64,
    delivered: Mutex<HashMap<EventId, Span>>,
    done: Notify,
}

/// From when to when the sink had an event.
#[derive(Clone, Copy)]
struct Span {
    given: Instant,
    acknowledged: Instant,
}

#[async_trait]
impl Sink for Watch {
    async fn deliver(&self, batch: &[Entry], until: Instant) -> Vec<Delivery> {
        let given = Instant::now();
        let deliveries = self.inner.deliver(batch, until).await;
        let span = Span { given, acknowledged: Instant::now() };
        let mut delivered = self.delivered.lock().unwrap_or_else(PoisonError::into_inner);
        for (entry, delivery) in batch.iter().zip(&deliveries) {
            if *delivery == Delivery::Delivered {
                delivered.entry(entry.event.id).or_insert(span);
            }
        }
        if delivered.len() as u64 >= self.wanted {
            self.done.notify_one();
        }
        deliveries
    }

    async fn ping(&self) -> std::result::Result<(), Fault> {
        self.inner.ping().await
    }
}

fn summarise(
    load: Load,
    committed: &HashMap<EventId, Instant>,
    delivered: &HashMap<EventId, Span>,
    cpu_share: Option<f64>,
) -> Result<Latency> {
    let whole = waits::between(committed, delivered.iter().map(|(id, span)| (*id, span.acknowledged)))?;
    let found = waits::between(committed, delivered.iter().map(|(id, span)| (*id, span.given)))?;
    Ok(Latency {
        way: load.way.name().to_owned(),
        rate: load.rate,
        events: whole.len(),
        p50: whole.value_at_quantile(0.5),
        p99: whole.value_at_quantile(0.99),
        max: whole.max(),
        found_p50: found.value_at_quantile(0.5),
        found_p99: found.value_at_quantile(0.99),
        cpu_share,
    })
}
