//! A machine on a workbench: one relay, one subscription, a log in memory, and a test that decides when what is answered.
//!
//! Commands are fetched into queues by [`Bench::drain`] and answered one at a time, or all of them by [`Bench::run`].
//! Time moves only when the test says so, for the relay and for the log alike.

mod answers;
mod looks;

use std::{collections::VecDeque, sync::Arc, time::Duration};

use posthaste_core::{
    Act, Entry, Event, EventBuilder, EventId, EventRules, Hold, Lane, LaneSet, Lease, Origin, Position, Read,
    RelayId, Spot, Stamp, Subscription, SubscriptionCensus, Timestamp, memory::MemoryStore,
};
use posthaste_relay::{
    Moment, Settings,
    machine::{Command, Machine, Note},
};

pub(crate) use self::looks::{buried, key_in, parked, positions, refuse, well};

/// The subscription under test.
pub(crate) const NAME: &str = "tested";

/// A batch that is on the wire.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) lane: Lane,
    pub(crate) entries: Vec<Entry>,
    pub(crate) until: Moment,
    began: Moment,
}

pub(crate) struct Bench {
    pub(crate) store: MemoryStore,
    pub(crate) machine: Machine,
    pub(crate) subscription: Subscription,
    pub(crate) settings: Settings,
    pub(crate) me: RelayId,
    pub(crate) now: Moment,
    /// Until when the lease is good for sending.
    pub(crate) deadline: Moment,
    pub(crate) sends: VecDeque<Batch>,
    pub(crate) hot_sends: VecDeque<Entry>,
    pub(crate) reads: VecDeque<Read>,
    pub(crate) appends: VecDeque<Arc<[Act]>>,
    pub(crate) pings: usize,
    pub(crate) renewals: usize,
    /// Everything that was delivered, in order, repeats included.
    pub(crate) received: Vec<Position>,
    /// How many reads were answered, and how many appends took effect.
    pub(crate) statements: (usize, usize),
    pub(crate) notes: Vec<Note>,
    events: Vec<EventId>,
}

impl Bench {
    /// A log with this many lanes, default settings, and a relay that holds nothing yet.
    pub(crate) fn new(lanes: u8) -> Self {
        Self::with(lanes, |_, _| {})
    }

    /// The same, with other settings or another kind of subscription.
    pub(crate) fn with(lanes: u8, adjust: impl FnOnce(&mut Subscription, &mut Settings)) -> Self {
        let (mut subscription, mut settings) = (Subscription::new(NAME), Settings::default());
        adjust(&mut subscription, &mut settings);
        settings.validate().unwrap();
        let mut store = MemoryStore::new(lanes);
        store.subscribe(Timestamp(0), &subscription);
        Self {
            store,
            machine: Machine::new(subscription.clone(), 1, settings.clone(), 7),
            subscription,
            settings,
            me: RelayId("me".to_owned()),
            now: Moment::after(Duration::from_secs(1)),
            deadline: Moment::default(),
            sends: VecDeque::new(),
            hot_sends: VecDeque::new(),
            reads: VecDeque::new(),
            appends: VecDeque::new(),
            pings: 0,
            renewals: 0,
            received: Vec::new(),
            statements: (0, 0),
            notes: Vec::new(),
            events: Vec::new(),
        }
    }

    /// The same, with a sink that does not keep the order of a key within a batch.
    pub(crate) fn one_entry_a_key(mut self) -> Self {
        self.machine = self.machine.with_one_entry_a_key();
        self
    }

    /// The same, with other luck.
    pub(crate) fn seeded(mut self, seed: u64) -> Self {
        self.machine = self.another_machine(seed);
        self
    }

    /// What another relay for the same subscription, or the next life of this one, begins with.
    pub(crate) fn another_machine(&self, seed: u64) -> Machine {
        Machine::new(self.subscription.clone(), 1, self.settings.clone(), seed)
    }

    /// The time by the log's clock.
    pub(crate) fn db_now(&self) -> Timestamp {
        Timestamp(0) + self.now.elapsed()
    }

    pub(crate) fn pass(&mut self, span: Duration) {
        self.now = self.now + span;
    }

    /// Publishes an event, and answers with it as the one who committed it has it.
    pub(crate) fn publish_event(&mut self, draft: EventBuilder) -> Entry {
        let id = EventId::from_bytes((self.events.len() as u128 + 1).to_be_bytes());
        self.events.push(id);
        let event = draft.build(&EventRules::default(), Stamp { id, now: self.db_now() }).unwrap();
        let published = self.store.publish(self.db_now(), vec![event.clone()]).unwrap()[0];
        let Spot { position, lane } = published.spot.unwrap();
        Entry {
            position,
            lane,
            delayed: event.deliver_after.is_some_and(|time| time > self.db_now()),
            event,
            origin: Origin::Log,
            attempts: 0,
            blocked: false,
            defect: None,
        }
    }

    /// Publishes an event with this key.
    pub(crate) fn publish(&mut self, key: &str) -> Position {
        self.publish_event(draft().key(key)).position
    }

    /// Publishes an event without a key.
    pub(crate) fn publish_unkeyed(&mut self) -> Entry {
        self.publish_event(draft())
    }

    /// A relay asks for its lease: what the log answers.
    pub(crate) fn hold_as(&mut self, relay: &str) -> SubscriptionCensus {
        let lease = Lease {
            relay: RelayId(relay.to_owned()),
            host: "test".to_owned(),
            version: "0".to_owned(),
            subscriptions: vec![NAME.to_owned()],
            time: self.settings.lease,
            first: true,
        };
        match self.store.hold(self.db_now(), &lease) {
            Ok(Hold::Alive(mut census)) => census.subscriptions.remove(0),
            refused => panic!("a first lease is always granted, but: {refused:?}"),
        }
    }

    /// Renews the lease: the machine learns at once how the lanes stand.
    pub(crate) fn renew(&mut self) {
        let census = self.hold_as(&self.me.0.clone());
        self.tell(&census);
    }

    /// The machine learns how the lanes stood.
    pub(crate) fn tell(&mut self, census: &SubscriptionCensus) {
        self.deadline = self.now + self.settings.sending_time();
        self.machine.census(self.now, &self.me, census, self.deadline);
    }

    /// Renews the lease and takes the lanes that are free; whatever else the machine wants waits.
    pub(crate) fn take_lanes(&mut self) -> LaneSet {
        self.renew();
        self.drain();
        self.append();
        self.machine.held()
    }

    /// Fetches everything the machine wants now. It then wants nothing more at this moment.
    pub(crate) fn drain(&mut self) {
        while let Some(command) = self.machine.poll(self.now) {
            self.keep(command);
        }
        assert!(self.machine.poll(self.now).is_none(), "who says that there is nothing to do means it");
        self.notes.extend(self.machine.take_notes());
    }

    fn keep(&mut self, command: Command) {
        match command {
            Command::Read(read) => self.reads.push_back(read),
            Command::Append(acts) => self.appends.push_back(acts),
            Command::Ping => self.pings += 1,
            Command::Renew => self.renewals += 1,
            Command::SendHot { entry, until } => {
                assert!(self.now < until, "nothing is sent at its deadline or after it");
                self.hot_sends.push_back(*entry);
            }
            Command::Send { lane, entries, until } => {
                assert!(self.now < until, "nothing is sent at its deadline or after it");
                assert!(self.sends.iter().all(|batch| batch.lane != lane), "one lane, one batch on the wire");
                self.sends.push_back(Batch { lane, entries, until, began: self.now });
            }
        }
    }
}

/// An event of which only the key and the like matter.
pub(crate) fn draft() -> EventBuilder {
    Event::of("tested").bytes("x", "text/plain")
}
