//! What every test of a relay needs: a log that goes by the runtime's clock, events, and patience.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use posthaste_core::{
    ActKind, Clock, DeadFilter, DeadLetter, Entry, Event, EventBuilder, EventId, EventRules, Lane, Log,
    Origin, Published, Sink, Spot, Stamp, Subscription, SubscriptionStatus, Timestamp,
    memory::{Line, MemoryLog},
};
use posthaste_relay::{RelayBuilder, Settings};
use posthaste_testkit::FlakySink;
use tokio::time::Instant;

/// The subscription of most tests.
pub(crate) const NAME: &str = "tested";

/// What takes longer than this does not come; in the runtime's time, of course.
const PATIENCE: Duration = Duration::from_secs(600);

/// The time of a runtime that stands still while somebody works.
struct RuntimeClock(Instant);

impl Clock for RuntimeClock {
    fn now(&self) -> Timestamp {
        Timestamp(1_000_000) + self.0.elapsed()
    }
}

/// A log with what was published to it.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) log: MemoryLog,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) settings: Settings,
    events: Arc<AtomicU64>,
}

impl Stage {
    pub(crate) fn new(lanes: u8) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(RuntimeClock(Instant::now()));
        Self {
            log: MemoryLog::new(lanes, Arc::clone(&clock)),
            clock,
            settings: Settings::default(),
            events: Arc::default(),
        }
    }

    /// A destination that takes everything until it is told otherwise.
    pub(crate) fn sink(&self) -> FlakySink {
        FlakySink::new(Arc::clone(&self.clock))
    }

    /// A relay that delivers everything to this sink.
    pub(crate) fn relay(&self, sink: &FlakySink) -> RelayBuilder {
        self.relay_over(Arc::new(self.log.clone()), Arc::new(sink.clone()))
    }

    /// A relay over another log, or with another sink.
    pub(crate) fn relay_over(&self, log: Arc<dyn Log>, sink: Arc<dyn Sink>) -> RelayBuilder {
        RelayBuilder::new(log).settings(self.settings.clone()).subscribe(Subscription::new(NAME), sink)
    }

    /// Publishes an event, and answers with it as the one who committed it has it.
    pub(crate) async fn publish_event(&self, draft: EventBuilder) -> Entry {
        let event = self.build(draft);
        let published = self.log.publish(std::slice::from_ref(&event)).await.unwrap()[0];
        entry(event, published)
    }

    /// Publishes an event without a key, and rings for nobody: only the caller knows.
    pub(crate) fn publish_silently(&self) -> Entry {
        self.commit_silently(draft())
    }

    /// The same with a key.
    pub(crate) fn publish_silently_with(&self, key: &str) -> Entry {
        self.commit_silently(draft().key(key))
    }

    fn commit_silently(&self, draft: EventBuilder) -> Entry {
        let event = self.build(draft);
        let now = self.clock.now();
        let published = self.log.with_store(|store| store.publish(now, vec![event.clone()])).unwrap()[0];
        entry(event, published)
    }

    fn build(&self, draft: EventBuilder) -> Event {
        let number = self.events.fetch_add(1, Ordering::Relaxed) + 1;
        let id = EventId::from_bytes(u128::from(number).to_be_bytes());
        draft.build(&EventRules::default(), Stamp { id, now: self.clock.now() }).unwrap()
    }

    /// Publishes an event with this key.
    pub(crate) async fn publish(&self, key: &str) -> EventId {
        self.publish_event(draft().key(key)).await.event.id
    }

    /// Publishes so many events with so many keys in turn.
    pub(crate) async fn publish_many(&self, count: usize, keys: usize) -> Vec<EventId> {
        let mut ids = Vec::new();
        for number in 0..count {
            ids.push(self.publish(&format!("k{}", number % keys)).await);
        }
        ids
    }

    /// How the subscription stands.
    pub(crate) fn status(&self) -> SubscriptionStatus {
        let status = self.log.with_store(|store| store.status(self.clock.now()));
        status.subscriptions.into_iter().find(|subscription| subscription.name == NAME).unwrap_or_default()
    }

    pub(crate) fn dead(&self) -> Vec<DeadLetter> {
        self.log.with_store(|store| store.dead(&DeadFilter::default())).unwrap().items
    }

    /// The last line of each lane.
    pub(crate) fn last_lines(&self) -> Vec<Line> {
        let lanes = self.log.capabilities().lanes;
        let last = |lane| self.log.with_store(|store| store.lines(NAME, lane).last().cloned());
        (0..lanes).map(Lane).filter_map(last).collect()
    }

    /// Whether every lane was given back.
    pub(crate) fn is_given_back(&self) -> bool {
        self.last_lines().iter().all(|line| line.kind == ActKind::GivenBack)
    }

    /// Waits until everything that was published is settled.
    pub(crate) async fn settled(&self) {
        let quiet = |status: SubscriptionStatus| status.pending + status.failed + status.delayed == 0;
        wait_until("everything is settled", || quiet(self.status())).await;
    }
}

/// The event as the one who committed it has it.
fn entry(event: Event, published: Published) -> Entry {
    let Spot { position, lane } = published.spot.unwrap();
    Entry {
        position,
        lane,
        delayed: event.deliver_after.is_some(),
        event,
        origin: Origin::Log,
        attempts: 0,
        blocked: false,
        defect: None,
    }
}

/// Waits until the condition holds.
pub(crate) async fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "in vain: {what}");
        // Waits for a condition.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Waits until this many deliveries were received, repeats included.
pub(crate) async fn received(sink: &FlakySink, count: usize) {
    let wait = tokio::time::timeout(PATIENCE, sink.wait_for(count)).await;
    assert!(wait.is_ok(), "only {} of {count} were received", sink.received().len());
}

/// Lets time pass, and with it everything that happens in it.
pub(crate) async fn pass(span: Duration) {
    _ = tokio::time::timeout(span, std::future::pending::<()>()).await;
}

/// An event of which only the key and the like matter.
pub(crate) fn draft() -> EventBuilder {
    Event::of("tested").bytes("x", "text/plain")
}

/// The ids that a sink received, in order.
pub(crate) fn ids(sink: &FlakySink) -> Vec<EventId> {
    sink.received().iter().map(|receipt| receipt.id).collect()
}

/// The same without order and repeats, to compare with what was published.
pub(crate) fn sorted(mut ids: Vec<EventId>) -> Vec<EventId> {
    ids.sort();
    ids.dedup();
    ids
}
