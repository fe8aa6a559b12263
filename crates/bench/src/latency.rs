//! Latency from the moment a commit returned until the listener was called, at a steady rate, open loop.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use posthaste::{Commit, EventId, Result, Transaction, sqlite};
use tokio::sync::mpsc;

use crate::{
    Plan,
    report::Latency,
    shop::{Shop, small_event, unexpected},
    waits,
};

/// Which way the events go.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Way {
    /// Without a key: from memory.
    Hot,
    /// With a key: the bell is rung and the log is read.
    Keyed,
}

pub(crate) async fn measure(plan: &Plan, way: Way) -> Result<Latency> {
    let shop = Shop::open().await?;
    let events = u64::from(plan.rate) * plan.duration.as_secs().max(1);
    let (heard, mut hears) = mpsc::channel::<(EventId, Instant)>(1024);
    let relay = shop
        .outbox
        .relay()
        .listen("order.placed", move |event| {
            let (at, id, heard) = (Instant::now(), event.id, heard.clone());
            async move { Ok(heard.send((id, at)).await?) }
        })
        .start()
        .await?;
    let committed = Arc::new(Mutex::new(HashMap::new()));
    let publisher =
        Publisher { outbox: shop.outbox.clone(), pool: shop.pool.clone(), committed: Arc::clone(&committed) };
    let publishing = tokio::task::JoinSet::from_iter([publisher.run(plan.rate, events, way)]);
    let mut times = HashMap::new();
    while (times.len() as u64) < events {
        let Some((id, at)) = hears.recv().await else { break };
        times.entry(id).or_insert(at);
    }
    for published in publishing.join_all().await {
        published?;
    }
    relay.stop().await;
    let committed = committed.lock().unwrap_or_else(PoisonError::into_inner);
    summarise(plan.rate, &committed, &times)
}

/// When each commit returned.
type Commits = Arc<Mutex<HashMap<EventId, Instant>>>;

struct Publisher {
    outbox: posthaste::Outbox,
    pool: sqlite::SqlitePool,
    committed: Commits,
}

impl Publisher {
    /// Publishes at the given rate, whether or not the last one has come back.
    async fn run(self, rate: u32, events: u64, way: Way) -> Result<()> {
        let mut ticks = tokio::time::interval(Duration::from_secs(1) / rate);
        for number in 0..events {
            ticks.tick().await;
            let event = small_event(number);
            let event = if way == Way::Hot { event.unkeyed() } else { event };
            let inner = sqlite::begin(&self.pool).await?;
            let mut tx = Timed { inner, returned: Arc::clone(&self.committed), id: None };
            let staged = self.outbox.publish(&mut tx, event).await?;
            tx.id = Some(staged.id());
            self.outbox.commit(tx, staged).await?;
        }
        Ok(())
    }
}

/// A transaction that notes when its commit returned: before the dispatch that follows it.
struct Timed {
    inner: sqlite::SqliteTransaction<'static>,
    returned: Commits,
    id: Option<EventId>,
}

impl Transaction for Timed {
    fn append<'a>(
        &'a mut self,
        place: &'a posthaste::Place,
        events: posthaste::Unpublished<'a>,
    ) -> impl Future<Output = Result<Vec<posthaste::Published>>> + Send + 'a {
        self.inner.append(place, events)
    }
}

impl Commit for Timed {
    fn find<'a>(
        &'a mut self,
        place: &'a posthaste::Place,
        positions: &'a [posthaste::Position],
    ) -> impl Future<Output = Result<Vec<EventId>>> + Send + 'a {
        self.inner.find(place, positions)
    }

    async fn commit(self) -> Result<()> {
        self.inner.commit().await.map_err(unexpected("commit"))?;
        let mut returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner);
        returned.extend(self.id.map(|id| (id, Instant::now())));
        Ok(())
    }
}

fn summarise(
    rate: u32,
    committed: &HashMap<EventId, Instant>,
    heard: &HashMap<EventId, Instant>,
) -> Result<Latency> {
    let histogram = waits::between(committed, heard.iter().map(|(id, at)| (*id, *at)))?;
    let steps = [50, 100, 200, 300, 500, 1_000, 2_000, 5_000, 10_000, 100_000];
    let up_to = |limit: u64| (limit, histogram.count_between(0, limit));
    Ok(Latency {
        rate,
        events: histogram.len(),
        p50: histogram.value_at_quantile(0.5),
        p99: histogram.value_at_quantile(0.99),
        p999: histogram.value_at_quantile(0.999),
        max: histogram.max(),
        histogram: steps.map(up_to).into(),
    })
}
