//! Hears what a relay says: its log lines, and its metrics. Both only on the thread of the test.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt::Debug,
    sync::{
        Arc, Mutex, Once, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
    span,
};

/// The lines that were logged, as text with their level.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<(Level, String)>>>);

thread_local! {
    /// Who listens on this thread. A test runs on one thread, with all tasks of its relay.
    static LISTENING: RefCell<Option<Lines>> = const { RefCell::new(None) };
}

impl Lines {
    /// Hears what is logged on this thread from now on.
    pub(crate) fn hear() -> Self {
        static INSTALLED: Once = Once::new();
        // One for the whole program: with one for each test, what is enabled for whom depends on who comes first.
        INSTALLED.call_once(|| {
            tracing::subscriber::set_global_default(Ear).unwrap();
            tracing::callsite::rebuild_interest_cache();
        });
        let lines = Self::default();
        LISTENING.set(Some(lines.clone()));
        lines
    }

    /// How many lines of this level or worse contain the text.
    pub(crate) fn count(&self, level: Level, text: &str) -> usize {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().filter(|(said, line)| *said <= level && line.contains(text)).count()
    }
}

/// Passes on what is logged to whoever listens on the same thread.
struct Ear;

impl Subscriber for Ear {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target().starts_with("posthaste")
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        let mut text = Text::default();
        event.record(&mut text);
        LISTENING.with_borrow(|lines| {
            if let Some(Lines(lines)) = lines {
                let level = *event.metadata().level();
                lines.lock().unwrap_or_else(PoisonError::into_inner).push((level, text.0));
            }
        });
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

#[derive(Default)]
struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push_str(&format!("{field}={value:?} "));
    }
}

/// The metrics that were fed, by name.
#[derive(Clone, Default)]
pub(crate) struct Meters(Arc<Mutex<BTreeMap<String, Arc<Meter>>>>);

#[derive(Default)]
pub(crate) struct Meter {
    /// The sum of a counter, or the last value of a gauge.
    value: AtomicU64,
    /// How often it was fed.
    fed: AtomicU64,
}

impl Meters {
    /// The sum of a counter, or the last value of a gauge, over all labels; 0 if there is none of that name.
    pub(crate) fn value(&self, name: &str) -> u64 {
        self.find(name).map_or(0, |meter| meter.value.load(Ordering::SeqCst))
    }

    /// How often it was fed.
    pub(crate) fn fed(&self, name: &str) -> u64 {
        self.find(name).map_or(0, |meter| meter.fed.load(Ordering::SeqCst))
    }

    fn find(&self, name: &str) -> Option<Arc<Meter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    fn register(&self, key: &Key) -> Arc<Meter> {
        let mut meters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(meters.entry(key.name().to_owned()).or_default())
    }
}

impl Recorder for Meters {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.register(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.register(key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.register(key))
    }
}

impl CounterFn for Meter {
    fn increment(&self, value: u64) {
        self.value.fetch_add(value, Ordering::SeqCst);
        self.fed.fetch_add(1, Ordering::SeqCst);
    }

    fn absolute(&self, value: u64) {
        self.value.store(value, Ordering::SeqCst);
        self.fed.fetch_add(1, Ordering::SeqCst);
    }
}

impl GaugeFn for Meter {
    fn increment(&self, _: f64) {
        self.fed.fetch_add(1, Ordering::SeqCst);
    }

    fn decrement(&self, _: f64) {
        self.fed.fetch_add(1, Ordering::SeqCst);
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the tests look at small counts"
    )]
    fn set(&self, value: f64) {
        self.value.store(value as u64, Ordering::SeqCst);
        self.fed.fetch_add(1, Ordering::SeqCst);
    }
}

impl HistogramFn for Meter {
    fn record(&self, _: f64) {
        self.fed.fetch_add(1, Ordering::SeqCst);
    }
}
