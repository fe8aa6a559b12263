//! A recorder of counters, to see which way an event took.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};

/// The counters of the thread on which a test runs. Use `metrics::set_default_local_recorder`.
#[derive(Default)]
pub(crate) struct Counters {
    found: Mutex<HashMap<String, Arc<AtomicU64>>>,
}

impl Counters {
    pub(crate) fn get(&self, name: &str) -> u64 {
        self.found.lock().unwrap().get(name).map_or(0, |counter| counter.load(Ordering::Relaxed))
    }
}

impl Recorder for Counters {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let mut found = self.found.lock().unwrap();
        Counter::from_arc(Arc::clone(found.entry(key.name().to_owned()).or_default()))
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}
