//! What every case needs: a few words to publish, settle and read, so that a case says only what it is about.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use posthaste_core::{
    Act, ActKind, Appended, Census, Clock, Cursor, DeadFilter, Entry, ErrorKind, Event, EventBuilder,
    EventId, EventRules, Hold, Lane, LaneCensus, LaneSet, Lease, Limit, OperatorAct, Page, Position,
    Published, Read, RelayId, Result, Spot, Stamp, Subscription, SubscriptionCensus, Timestamp,
};

use super::Subject;

/// The subscription of most cases.
pub(super) const SUB: &str = "billing";
/// The relay that settles in most cases.
pub(super) const RELAY: &str = "relay-1";
/// The operator of all cases.
pub(super) const ADA: &str = "ada";
/// How long a lease lasts.
pub(super) const LEASE: Duration = Duration::from_secs(15);
/// The smallest step of a log's clock.
pub(super) const TICK: Duration = Duration::from_micros(1);
/// A wait that no case outlasts by accident.
pub(super) const SOON: Duration = Duration::from_secs(10);

/// A published event, and where it is.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    /// As it is to be read.
    pub(super) event: Event,
    pub(super) id: EventId,
    pub(super) position: Position,
    pub(super) lane: Lane,
    pub(super) answer: Published,
}

/// A subject at work.
pub(super) struct Bench<'s, S: Subject> {
    pub(super) subject: &'s S,
    last_id: AtomicU32,
}

impl<'s, S: Subject> Bench<'s, S> {
    /// With an empty log.
    pub(super) fn new(subject: &'s S) -> Self {
        Self { subject, last_id: AtomicU32::new(0) }
    }

    /// With the subscription [`SUB`] from the beginning.
    pub(super) async fn subscribed(subject: &'s S) -> Self {
        let bench = Self::new(subject);
        bench.subscribe(&Subscription::new(SUB)).await;
        bench
    }

    pub(super) fn now(&self) -> Timestamp {
        self.subject.clock().now()
    }

    pub(super) fn advance(&self, span: Duration) {
        self.subject.clock().advance(span);
    }

    pub(super) fn all_lanes(&self) -> LaneSet {
        self.subject.log().capabilities().all_lanes().collect()
    }

    pub(super) fn new_id(&self) -> EventId {
        let number = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let mut bytes = [7; 16];
        bytes[12..].copy_from_slice(&number.to_be_bytes());
        EventId::from_bytes(bytes)
    }

    pub(super) fn build(&self, draft: EventBuilder) -> Event {
        let stamp = Stamp { id: self.new_id(), now: self.now() };
        draft.build(&EventRules::default(), stamp).expect("the suite builds valid events")
    }

    /// Publishes the events in one transaction, and commits it.
    pub(super) async fn publish(&self, drafts: impl IntoIterator<Item = EventBuilder>) -> Vec<Sent> {
        self.commit(drafts.into_iter().map(|draft| self.build(draft)).collect()).await
    }

    /// Publishes an event with a payload of any size, as plain SQL can.
    pub(super) async fn publish_unlimited(&self, draft: EventBuilder) -> Sent {
        let rules = EventRules { payload_limit: usize::MAX, ..EventRules::default() };
        let stamp = Stamp { id: self.new_id(), now: self.now() };
        let event = draft.build(&rules, stamp).expect("the suite builds valid events");
        self.commit(vec![event]).await.remove(0)
    }

    async fn commit(&self, events: Vec<Event>) -> Vec<Sent> {
        let mut tx = self.subject.begin().await;
        let answers = self.append_to(&mut tx, &events).await.expect("publish");
        self.subject.commit(tx).await;
        assert_eq!(answers.len(), events.len(), "one answer an event");
        events.into_iter().zip(answers).map(|(event, answer)| sent(event, answer)).collect()
    }

    pub(super) async fn publish_one(&self, draft: EventBuilder) -> Sent {
        self.publish([draft]).await.remove(0)
    }

    /// Publishes inside a transaction that the case owns.
    pub(super) async fn append_to(&self, tx: &mut S::Tx, events: &[Event]) -> Result<Vec<Published>> {
        self.subject.append(tx, events).await
    }

    /// This many keys, each in another lane.
    pub(super) async fn keys_of_distinct_lanes(&self, count: usize) -> Vec<String> {
        let mut found: Vec<(Lane, String)> = Vec::new();
        for (key, lane) in self.lanes_of_keys().await {
            if found.len() < count && found.iter().all(|(taken, _)| *taken != lane) {
                found.push((lane, key));
            }
        }
        assert_eq!(found.len(), count, "the log of the suite has at least {count} lanes");
        found.into_iter().map(|(_, key)| key).collect()
    }

    /// This many keys, all in one lane.
    pub(super) async fn keys_of_one_lane(&self, count: usize) -> Vec<String> {
        let keys = self.lanes_of_keys().await;
        let lane = keys[0].1;
        let same: Vec<String> =
            keys.into_iter().filter(|(_, other)| *other == lane).map(|(key, _)| key).take(count).collect();
        assert_eq!(same.len(), count, "{count} of a thousand keys share a lane");
        same
    }

    /// Only the log knows which lane a key is in; a transaction that is rolled back tells it.
    async fn lanes_of_keys(&self) -> Vec<(String, Lane)> {
        let keys: Vec<String> = (0..1_000).map(|number| format!("key-{number}")).collect();
        let events: Vec<Event> = keys.iter().map(|key| self.build(keyed(key))).collect();
        let mut tx = self.subject.begin().await;
        let answers = self.append_to(&mut tx, &events).await.expect("publish");
        self.subject.rollback(tx).await;
        keys.into_iter().zip(answers).map(|(key, answer)| (key, spot_of(&answer).lane)).collect()
    }

    /// Creates or finds the subscription, and answers its generation.
    pub(super) async fn subscribe(&self, subscription: &Subscription) -> i64 {
        self.subject.log().subscribe(subscription).await.expect("subscribe").generation
    }

    /// A lease for a relay that serves [`SUB`].
    pub(super) fn lease(&self, relay_id: &str) -> Lease {
        Lease {
            relay: relay(relay_id),
            host: "host".to_owned(),
            version: "1.0.0".to_owned(),
            subscriptions: vec![SUB.to_owned()],
            time: LEASE,
            first: true,
        }
    }

    pub(super) async fn hold(&self, lease: &Lease) -> Hold {
        self.subject.log().hold(lease).await.expect("hold")
    }

    /// Enrols a relay that serves [`SUB`].
    pub(super) async fn enrol(&self, relay_id: &str) -> SubscriptionCensus {
        only(alive(self.hold(&self.lease(relay_id)).await))
    }

    pub(super) async fn renew(&self, relay_id: &str) -> Hold {
        self.hold(&Lease { first: false, ..self.lease(relay_id) }).await
    }

    /// How a subscription stands, asked for by a relay that comes and goes.
    pub(super) async fn census(&self, subscription: &str) -> Option<SubscriptionCensus> {
        let lease = Lease { subscriptions: vec![subscription.to_owned()], ..self.lease("observer") };
        let census = alive(self.hold(&lease).await);
        self.subject.log().leave(&lease.relay).await.expect("leave");
        census.subscriptions.into_iter().next()
    }

    /// The last line of a lane of [`SUB`].
    pub(super) async fn line(&self, lane: Lane) -> LaneCensus {
        self.line_of(SUB, lane).await
    }

    pub(super) async fn line_of(&self, subscription: &str, lane: Lane) -> LaneCensus {
        let census = self.census(subscription).await.expect("the subscription is there");
        census.lanes.into_iter().find(|line| line.lane == lane).expect("every lane has a line")
    }

    pub(super) async fn append(&self, relay_id: &str, acts: &[Act]) -> Vec<Appended> {
        self.subject.log().append(SUB, &relay(relay_id), acts).await.expect("append")
    }

    pub(super) async fn append_one(&self, relay_id: &str, act: Act) -> Appended {
        self.append(relay_id, &[act]).await.remove(0)
    }

    /// Takes a lane for a relay, and answers the number of the line.
    pub(super) async fn take(&self, relay_id: &str, lane: Lane) -> i64 {
        let line = self.line(lane).await;
        let act = Act { cursor: line.cursor, ..act(lane, line.n + 1, ActKind::Taken, Position(0)) };
        assert_eq!(self.append_one(relay_id, act).await, Appended::Done);
        line.n + 1
    }

    /// Settles the lane of this event up to it, with these changes, as [`RELAY`].
    pub(super) async fn settle(&self, sent: &Sent, changes: Vec<posthaste_core::Change>) {
        self.settle_in(SUB, sent, changes).await;
    }

    pub(super) async fn settle_in(
        &self,
        subscription: &str,
        sent: &Sent,
        changes: Vec<posthaste_core::Change>,
    ) {
        let line = self.line_of(subscription, sent.lane).await;
        let cursor = line.cursor.after.max(sent.position);
        let delivered = u32::from(changes.is_empty());
        let act = Act { changes, delivered, ..act(sent.lane, line.n + 1, ActKind::Settled, cursor) };
        let answers = self.subject.log().append(subscription, &relay(RELAY), &[act]).await.expect("append");
        assert_eq!(answers, [Appended::Done]);
    }

    /// A read of everything in [`SUB`].
    pub(super) fn everything(&self) -> Read {
        Read {
            subscription: SUB.to_owned(),
            generation: 1,
            hold_dead: false,
            lanes: self.all_lanes(),
            after: Cursor::default(),
            until: None,
            parked: self.all_lanes(),
            limit: Limit { entries: 1_000, bytes: 10_000_000 },
        }
    }

    pub(super) async fn read(&self, read: &Read) -> Page {
        self.subject.log().read(read).await.expect("read")
    }

    /// Reads everything in [`SUB`].
    pub(super) async fn page(&self) -> Page {
        self.read(&self.everything()).await
    }

    /// Reads everything in [`SUB`], where dead letters may hold their key.
    pub(super) async fn page_that_holds(&self) -> Page {
        self.read(&Read { hold_dead: true, ..self.everything() }).await
    }

    /// Reads the entry of the log at the place of this event.
    pub(super) async fn entry(&self, sent: &Sent) -> Entry {
        let entries = self.page().await.entries;
        entries.into_iter().find(|entry| entry.position == sent.position).expect("the event is in the log")
    }

    pub(super) async fn act(&self, act: OperatorAct) -> Result<u64> {
        self.subject.admin().act(&act, ADA).await
    }

    /// The numbers of the dead letters that nobody has resolved.
    pub(super) async fn open_letters(&self) -> Vec<i64> {
        let filter = DeadFilter { limit: 1_000, ..DeadFilter::default() };
        let page = self.subject.admin().dead(&filter).await.expect("dead");
        page.items.iter().map(|letter| letter.dead_id).collect()
    }

    /// Does it, and expects a refusal of this kind; answers its text.
    pub(super) async fn refusal(&self, act: OperatorAct, kind: ErrorKind) -> String {
        let error = self.act(act).await.expect_err("this is refused");
        assert_eq!(error.kind(), kind, "{error}");
        error.to_string()
    }
}

/// An event with this key.
pub(super) fn keyed(key: &str) -> EventBuilder {
    unkeyed().key(key)
}

/// An event without a key.
pub(super) fn unkeyed() -> EventBuilder {
    Event::of("order.placed").payload(posthaste_core::Payload::Json(r#"{"total":1}"#.to_owned()))
}

pub(super) fn relay(id: &str) -> RelayId {
    RelayId(id.to_owned())
}

pub(super) fn alive(hold: Hold) -> Census {
    match hold {
        Hold::Alive(census) => census,
        Hold::Lost => panic!("the lease is lost"),
    }
}

/// The one subscription of a census.
pub(super) fn only(mut census: Census) -> SubscriptionCensus {
    assert_eq!(census.subscriptions.len(), 1, "{census:?}");
    census.subscriptions.remove(0)
}

pub(super) fn act(lane: Lane, n: i64, kind: ActKind, cursor: Position) -> Act {
    Act { lane, n, kind, cursor: Cursor::at(cursor), delivered: 0, changes: Vec::new() }
}

/// Where these entries are.
pub(super) fn positions(entries: &[Entry]) -> Vec<Position> {
    entries.iter().map(|entry| entry.position).collect()
}

/// Where these events are.
pub(super) fn places(events: &[&Sent]) -> Vec<Position> {
    events.iter().map(|sent| sent.position).collect()
}

fn sent(event: Event, answer: Published) -> Sent {
    let event = Event { version: answer.version, draw_version: false, ..event };
    let Spot { position, lane } = spot_of(&answer);
    Sent { event, id: answer.id, position, lane, answer }
}

fn spot_of(answer: &Published) -> Spot {
    answer.spot.expect("who publishes asks where the events are")
}
