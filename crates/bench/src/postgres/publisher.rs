//! Who publishes while latency is measured: at a steady rate, open loop, in a thread of its own.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use posthaste::{
    Delivery, Entry, Error, ErrorKind, Event, EventBuilder, EventId, EventRules, Lane, Payload, Position,
    Result, Sink, Stamp, Timestamp,
};
use posthaste_core::Origin;
use posthaste_postgres::{PgPool, PostgresLog};
use posthaste_relay::Hot;
use sqlx::{Row, postgres::PgRow};
use tokio::sync::oneshot;

use super::{
    latency::Load,
    shop::{Shop, failed},
};
use crate::memory::thread_micros;

/// What the publisher does after each commit.
pub(super) enum Then {
    /// Sends the event by itself.
    Deliver(Arc<dyn Sink>),
    /// Hands an event without a key to the relay in the process.
    Dispatch(Hot),
    /// Tells the relay in the process.
    Ring(Hot),
    /// Tells relays elsewhere, by `NOTIFY`.
    Notify(Arc<PostgresLog>),
    Nothing,
}

/// How long a publisher that sends by itself lets the destination take.
const PATIENCE: Duration = Duration::from_secs(60);

/// When each commit returned, and what publishing took of the processor.
pub(super) struct Published {
    pub(super) committed: HashMap<EventId, Instant>,
    pub(super) micros: Option<f64>,
    /// Its sessions stay until this is dropped: a server that ends many at once makes the last events late.
    _connected: PgPool,
}

/// Publishes in a thread of its own, so that what the relay uses can be told from what its publisher uses.
pub(super) async fn publish_apart(shop: &Shop, then: Then, load: Load) -> Result<Published> {
    let connecting = shop.connect();
    let (done, published) = oneshot::channel();
    let publishing = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(failed("start a runtime"))?.block_on(async {
            let connected = connecting.await?;
            let committed = Publisher { pool: connected.clone(), then }.run(load).await?;
            Ok(Published { committed, micros: thread_micros(), _connected: connected })
        })
    };
    let thread = std::thread::Builder::new().name("publisher".to_owned());
    thread.spawn(move || done.send(publishing())).map_err(failed("start a thread"))?;
    published.await.map_err(failed("publish"))?
}

struct Publisher {
    pool: PgPool,
    then: Then,
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
        let keyed = !matches!(self.then, Then::Dispatch(_));
        let key = keyed.then(|| format!("customer-{:05}", number % 1_000));
        let row = sqlx::query(
            "insert into outbox (topic, event_type, key, payload) values ('orders', 'order.placed', $1, $2)
             returning id::text, position, outbox_lane(key, id)",
        )
        .bind(&key)
        .bind(payload(number))
        .fetch_one(&self.pool)
        .await
        .map_err(failed("publish"))?;
        // The insert was its own transaction: it is committed.
        let returned = Instant::now();
        let id: &str = row.try_get(0).map_err(failed("publish"))?;
        let id: EventId = id.parse()?;
        match &self.then {
            Then::Deliver(sink) => {
                let entry = entry(id, key, &row, number)?;
                let deliveries = sink.deliver(&[entry], returned + PATIENCE).await;
                // Nobody would send it again, and its acknowledgement would be waited for.
                if !matches!(*deliveries, [Delivery::Delivered]) {
                    let text = format!("the destination did not take an event: {deliveries:?}");
                    return Err(Error::new(ErrorKind::Unavailable, text));
                }
            }
            Then::Dispatch(hot) => hot.dispatch(&[entry(id, key, &row, number)?]),
            Then::Ring(hot) => hot.ring(),
            Then::Notify(log) => log.ring(),
            Then::Nothing => {}
        }
        Ok((number, id, returned))
    }
}

fn payload(number: u64) -> String {
    format!("{{\"order\":{number},\"note\":\"{}\"}}", "x".repeat(80))
}

/// The event as the library would hand it to the hot path.
fn entry(id: EventId, key: Option<String>, row: &PgRow, number: u64) -> Result<Entry> {
    let draft = Event::of("order.placed").topic("orders").payload(Payload::Json(payload(number)));
    let draft = key.into_iter().fold(draft, EventBuilder::key);
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
