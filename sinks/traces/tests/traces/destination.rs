//! A destination that keeps what it received, and answers as it is told.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use posthaste_core::{
    Delivery, Entry, Event, EventBuilder, EventId, EventRules, Fault, Lane, Origin, Position, Sink, Stamp,
    Timestamp,
};
use posthaste_traces::{Labels, Traces};
use tokio::sync::watch;

/// Far longer than anything takes on a slow machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
pub(crate) const PUBLISHER: &str = "00f067aa0ba902b7";

/// The header of an event whose publisher's span is sampled.
pub(crate) fn sampled() -> String {
    format!("00-{TRACE}-{PUBLISHER}-01")
}

#[derive(Default)]
pub(crate) struct Destination {
    /// What it answers, one for each entry; then that it was delivered.
    answers: Mutex<VecDeque<Delivery>>,
    received: Mutex<Vec<Event>>,
    /// Where the last batch was in memory.
    pub(crate) place: Mutex<usize>,
    delivered: watch::Sender<usize>,
    /// Never answers.
    hangs: bool,
}

impl Destination {
    pub(crate) fn answering(answers: impl IntoIterator<Item = Delivery>) -> Arc<Self> {
        let answers = Mutex::new(answers.into_iter().collect());
        Arc::new(Self { answers, ..Self::default() })
    }

    /// Never answers.
    pub(crate) fn hanging() -> Arc<Self> {
        Arc::new(Self { hangs: true, ..Self::default() })
    }

    /// With spans for its deliveries.
    pub(crate) fn traced(self: &Arc<Self>, traces: &Traces) -> Arc<dyn Sink> {
        let labels = Labels {
            subscription: "orders".to_owned(),
            sink: "kafka:a:9092/shop.{topic}".to_owned(),
            system: "kafka".to_owned(),
            topic: "shop.{topic}".parse().unwrap(),
        };
        traces.around(self.clone(), labels)
    }

    /// The headers of this name that it received, in order.
    pub(crate) fn headers(&self, name: &str) -> Vec<Option<String>> {
        self.received.lock().unwrap().iter().map(|event| event.headers.get(name).cloned()).collect()
    }

    /// Waits until it has so many.
    pub(crate) async fn has(&self, count: usize) {
        let mut delivered = self.delivered.subscribe();
        let waiting = delivered.wait_for(|delivered| *delivered >= count);
        tokio::time::timeout(PATIENCE, waiting).await.unwrap().unwrap();
    }
}

#[async_trait]
impl Sink for Destination {
    async fn deliver(&self, batch: &[Entry], _: Instant) -> Vec<Delivery> {
        if self.hangs {
            std::future::pending::<()>().await;
        }
        *self.place.lock().unwrap() = batch.as_ptr() as usize;
        self.received.lock().unwrap().extend(batch.iter().map(|entry| entry.event.clone()));
        let mut told = self.answers.lock().unwrap();
        let answers: Vec<Delivery> =
            batch.iter().map(|_| told.pop_front().unwrap_or(Delivery::Delivered)).collect();
        let delivered = answers.iter().filter(|answer| **answer == Delivery::Delivered).count();
        self.delivered.send_modify(|count| *count += delivered);
        answers
    }

    async fn ping(&self) -> Result<(), Fault> {
        Ok(())
    }
}

pub(crate) fn event(number: u8, headers: &[(&str, &str)]) -> Event {
    let draft = Event::of("order.placed").topic("orders").bytes("{}", "application/json");
    let draft = headers.iter().fold(draft, |draft: EventBuilder, (name, value)| draft.header(*name, *value));
    let stamp = Stamp { id: EventId::from_bytes([number; 16]), now: Timestamp(0) };
    draft.build(&EventRules::default(), stamp).unwrap()
}

/// An entry at the position of its number, with these headers.
pub(crate) fn entry(number: u8, headers: &[(&str, &str)]) -> Entry {
    Entry {
        position: Position(i64::from(number)),
        lane: Lane(0),
        event: event(number, headers),
        origin: Origin::Log,
        attempts: 0,
        blocked: false,
        delayed: false,
        defect: None,
    }
}

pub(crate) async fn deliver(sink: &dyn Sink, batch: &[Entry]) -> Vec<Delivery> {
    sink.deliver(batch, Instant::now() + PATIENCE).await
}
