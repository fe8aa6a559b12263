//! What is said of spans that nobody took: once, and once more when somebody does again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tracing::{info, warn};

/// Counts the spans that were dropped, and knows what of it was said already.
#[derive(Debug)]
pub(crate) struct Loss {
    /// Who should take them.
    collector: String,
    dropped: AtomicU64,
    /// Whether it was said that the collector does not take them.
    away: AtomicBool,
    /// Whether it was said that there are too many.
    full: AtomicBool,
}

impl Loss {
    pub(crate) fn new(collector: String) -> Self {
        Self {
            collector,
            dropped: AtomicU64::new(0),
            away: AtomicBool::new(false),
            full: AtomicBool::new(false),
        }
    }

    /// The collector took what it was sent.
    pub(crate) fn taken(&self) {
        if self.away.swap(false, Ordering::Relaxed) {
            info!(collector = self.collector, dropped = self.dropped(), "traces are sent again");
        }
    }

    /// The collector did not take what it was sent.
    pub(crate) fn refused(&self, error: &str) {
        if !self.away.swap(true, Ordering::Relaxed) {
            let collector = &self.collector;
            warn!(
                collector,
                error, "traces cannot be sent; until they can, they are dropped, and events go on"
            );
        }
    }

    /// So many spans were sent in vain.
    pub(crate) fn in_vain(&self, spans: usize) {
        self.dropped.fetch_add(spans as u64, Ordering::Relaxed);
    }

    /// So many spans found no room in the queue.
    pub(crate) fn no_room(&self, spans: usize) {
        self.in_vain(spans);
        if !self.full.swap(true, Ordering::Relaxed) {
            warn!("more traces come than are taken; what finds no room is dropped, and events go on");
        }
    }

    /// How many spans were dropped in all.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tracing::{Event, Metadata, Subscriber, span};

    use super::*;

    /// Counts what is said.
    struct Ear(Arc<AtomicU64>);

    impl Subscriber for Ear {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }
        fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
        fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn enter(&self, _: &span::Id) {}
        fn exit(&self, _: &span::Id) {}
    }

    #[test]
    fn an_outage_is_said_once_and_its_end_once() {
        let said = Arc::new(AtomicU64::new(0));
        let loss = Loss::new("collector:4318".to_owned());
        tracing::subscriber::with_default(Ear(Arc::clone(&said)), || {
            let refused: fn(&Loss) = |loss| loss.refused("it answered 503");
            let mut after = Vec::new();
            for act in [Loss::taken, refused, refused, Loss::taken, Loss::taken] {
                act(&loss);
                after.push(said.load(Ordering::Relaxed));
            }
            assert_eq!(after, [0, 1, 1, 2, 2]);
            loss.no_room(3);
            loss.no_room(4);
            assert_eq!((said.load(Ordering::Relaxed), loss.dropped()), (3, 7));
        });
    }
}
