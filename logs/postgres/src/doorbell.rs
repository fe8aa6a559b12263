//! The doorbell between processes: one `NOTIFY` for many commits, after them and on a connection of its own, and a supervised `LISTEN`.
//!
//! Nothing depends on it. Whoever does not hear it finds the events at the next poll.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream, stream::BoxStream};
use posthaste_core::Result;
use sqlx::{
    SqlStr,
    postgres::{PgListener, PgPoolOptions},
};
use tokio::sync::Notify;

use crate::{
    error::failed,
    options::{Purpose, Source},
    slot::Slot,
    statements::{Place, Statements},
};

/// So many rings in a [`WHILE`] are a busy application's: 1,500 a second. It would pay for a `NOTIFY` after nearly each commit, each of them a
/// transaction that the server writes to its log, and a relay that is kept so busy polls every few milliseconds anyway.
const BUSY: u32 = 15;
const WHILE: Duration = Duration::from_millis(10);

/// The rest after each `NOTIFY` while it is busy: all who ring meanwhile are one. So long may a relay that finds nothing for itself in what is
/// busy, and has fallen asleep, wait for an event.
const REST: Duration = Duration::from_millis(20);

/// After trouble, a little patience.
const PAUSE: Duration = Duration::from_secs(1);

/// A connection that says nothing for so long is asked whether it is still there: half of it may be.
const SILENCE: Duration = Duration::from_secs(15);

fn channel(place: &Place) -> String {
    match place.schema() {
        Some(schema) => format!("posthaste.{schema}.{}", place.prefix()),
        None => format!("posthaste.{}", place.prefix()),
    }
}

/// Rings in other processes.
pub(crate) struct Bell {
    rung: Arc<Rung>,
    start: std::sync::Once,
    ringing: Ringing,
}

/// Those who rang and were not told of yet.
#[derive(Default)]
struct Rung {
    count: AtomicU32,
    news: Notify,
}

#[derive(Clone)]
struct Ringing {
    source: Source,
    channel: String,
    wake: SqlStr,
}

impl Bell {
    pub(crate) fn new(source: &Source, place: &Place, statements: &Statements) -> Self {
        let ringing =
            Ringing { source: source.clone(), channel: channel(place), wake: statements.wake.clone() };
        Self { rung: Arc::default(), start: std::sync::Once::new(), ringing }
    }

    /// Soon, and once for many. The task that does it lives from the first ring on, as long as the log does.
    pub(crate) fn ring(&self) {
        // Where nothing can wait nobody rings; whoever calls from a runtime later does.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            self.start.call_once(|| {
                runtime.spawn(self.ringing.clone().run(Arc::downgrade(&self.rung)));
            });
        }
        self.rung.count.fetch_add(1, Ordering::Relaxed);
        self.rung.news.notify_one();
    }
}

impl Ringing {
    async fn run(self, rung: std::sync::Weak<Rung>) {
        let slot = Slot::new(&self.source, Purpose::Any, None);
        let mut traffic = Traffic::new(Instant::now());
        loop {
            let Some(bell) = rung.upgrade() else { return };
            // Looks up now and then whether anybody can still ring.
            if tokio::time::timeout(SILENCE, bell.news.notified()).await.is_err() {
                continue;
            }
            let rings = bell.count.swap(0, Ordering::Relaxed);
            if let Err(error) = self.wake(&slot).await {
                tracing::debug!(error = %error.chain(), "the doorbell could not be rung; polling finds the events");
                tokio::time::sleep(PAUSE).await;
                bell.news.notify_one();
            }
            if traffic.is_busy(Instant::now(), rings) {
                tokio::time::sleep(REST).await;
            }
        }
    }

    async fn wake(&self, slot: &Slot) -> Result<()> {
        let mut connection = slot.take().await?;
        let rung = sqlx::query(self.wake.clone()).persistent(!self.source.pooler).bind(self.channel.as_str());
        rung.execute(&mut *connection).await.map_err(failed("ring the doorbell"))?;
        connection.put_back().await
    }
}

/// How often there are rings. Counted over a while, because a few commits at the same moment are no load.
struct Traffic {
    since: Instant,
    rings: u32,
    busy: bool,
}

impl Traffic {
    fn new(now: Instant) -> Self {
        Self { since: now, rings: 0, busy: false }
    }

    /// So many rang since the last time it was asked.
    fn is_busy(&mut self, now: Instant, rings: u32) -> bool {
        self.rings = self.rings.saturating_add(rings);
        let span = now - self.since;
        if span >= WHILE || self.rings > BUSY {
            self.busy = WHILE * self.rings > span * BUSY;
            (self.since, self.rings) = (now, 0);
        }
        self.busy
    }
}

/// Rings when somebody else says that something was committed. Behind a pooler nobody can listen: silence.
pub(crate) fn doorbell(source: &Source, place: &Place) -> BoxStream<'static, ()> {
    if source.pooler {
        return stream::pending().boxed();
    }
    let listening = Listening { source: source.clone(), channel: channel(place), listener: None };
    stream::unfold(listening, |mut listening| async move {
        listening.hear().await;
        Some(((), listening))
    })
    .boxed()
}

struct Listening {
    source: Source,
    channel: String,
    listener: Option<PgListener>,
}

impl Listening {
    /// Waits for a ring. A new connection rings too: what was rung while there was none is not lost.
    async fn hear(&mut self) {
        loop {
            let Some(listener) = &mut self.listener else {
                match self.listen().await {
                    Ok(listener) => {
                        self.listener = Some(listener);
                        return;
                    }
                    Err(error) => {
                        tracing::debug!(error = %error.chain(), "nobody hears the doorbell; polling goes on");
                        tokio::time::sleep(PAUSE).await;
                        continue;
                    }
                }
            };
            match tokio::time::timeout(SILENCE, listener.try_recv()).await {
                Ok(Ok(Some(_))) => return,
                // Closed or broken: begin again.
                Ok(Ok(None) | Err(_)) => self.listener = None,
                Err(_) if answers(listener).await => {}
                Err(_) => self.listener = None,
            }
        }
    }

    async fn listen(&self) -> Result<PgListener> {
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .connect_lazy_with(self.source.connect_options(Purpose::Any));
        let mut listener = PgListener::connect_with(&pool).await.map_err(failed("listen"))?;
        listener.ignore_pool_close_event(true);
        listener.listen(&self.channel).await.map_err(failed("listen"))?;
        Ok(listener)
    }
}

/// Whether the connection still answers.
async fn answers(listener: &mut PgListener) -> bool {
    const PATIENCE: Duration = Duration::from_secs(5);
    let asked = sqlx::Executor::execute(listener, "select 1");
    matches!(tokio::time::timeout(PATIENCE, asked).await, Ok(Ok(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rings every `apart` for a second, and answers how many of the rings found it busy.
    fn busy_in_a_second(traffic: &mut Traffic, now: &mut Instant, apart: Duration) -> u32 {
        let count = Duration::from_secs(1).as_micros() / apart.as_micros();
        let mut ring = || {
            *now += apart;
            traffic.is_busy(*now, 1)
        };
        (0..count).map(|_| u32::from(ring())).sum()
    }

    #[test]
    fn it_is_busy_above_fifteen_hundred_rings_a_second_and_only_while_they_last() {
        let mut now = Instant::now();
        let mut traffic = Traffic::new(now);
        let mut busy = |apart| busy_in_a_second(&mut traffic, &mut now, Duration::from_micros(apart));
        assert_eq!(busy(1_000), 0);
        let found = busy(500);
        assert!(found > 1_950, "after the first while: {found}");
        assert!(busy(1_000) <= 10, "a while to notice");
        assert_eq!(busy(1_000), 0);
    }

    #[test]
    fn a_few_rings_at_the_same_moment_are_no_load() {
        let mut now = Instant::now();
        let mut traffic = Traffic::new(now);
        for _ in 0..100 {
            now += Duration::from_millis(10);
            assert!(!traffic.is_busy(now, 8));
        }
    }

    #[test]
    fn who_rings_after_a_silence_is_alone_however_busy_it_was() {
        let mut now = Instant::now();
        let mut traffic = Traffic::new(now);
        busy_in_a_second(&mut traffic, &mut now, Duration::from_micros(100));
        assert!(traffic.is_busy(now, 1));
        assert!(!traffic.is_busy(now + Duration::from_secs(1), 1));
    }
}
