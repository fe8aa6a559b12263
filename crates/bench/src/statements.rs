//! How many statements SQLite is asked while events are drained, as sqlx itself reports them.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use posthaste::{Result, Subscription};
use tracing::Subscriber;
use tracing_subscriber::{Layer, filter::LevelFilter, layer::Context, prelude::*};

use crate::{null_sink::Counted, report::Statements, shop::Shop};

pub(crate) async fn measure(events: u64) -> Result<Statements> {
    let counter = Counter::default();
    let count = Arc::clone(&counter.0);
    let subscriber = tracing_subscriber::registry().with(counter.with_filter(LevelFilter::DEBUG));
    // The connections work on threads of their own, so that only a global subscriber hears them. If there is one
    // already, nothing is counted, and that is said.
    let installed = tracing::subscriber::set_global_default(subscriber).is_ok();
    let shop = Shop::open().await?;
    shop.fill(events).await?;
    let before = count.load(Ordering::Relaxed);
    let sink = Counted::null(events);
    let relay = shop.outbox.relay().subscribe(Subscription::new("count"), sink.clone()).start().await?;
    sink.wait().await;
    relay.stop().await;
    let statements = count.load(Ordering::Relaxed) - before;
    let per_event = if installed { statements as f64 / events as f64 } else { f64::NAN };
    Ok(Statements { events, per_event })
}

/// Counts sqlx's reports of statements.
#[derive(Default)]
struct Counter(Arc<AtomicU64>);

impl<S: Subscriber> Layer<S> for Counter {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        if event.metadata().target() == "sqlx::query" {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}
