//! The machine: what one relay does for one subscription, decided without I/O and without a clock.
//!
//! Inputs are methods: a census, a page, what a sink gave back, an answer to an append, a ring, the time. Outputs are
//! [`Command`]s, fetched with [`Machine::poll`] until there is none. Whoever drives it, the shell in production or a
//! simulation, carries commands out in any order and feeds the answers back.

mod balance;
mod circuit;
mod flight;
mod hot;
mod lane;
mod note;
mod pace;
mod rate;
mod reading;
mod refusal;
mod settling;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use fastrand::Rng;
use posthaste_core::{Act, Delivery, Entry, Fault, Lane, LaneCensus, LaneSet, Read, Subscription};

pub use self::note::Note;
use self::{circuit::Circuit, flight::Desk, lane::HeldLane, pace::Pace, rate::Rate};
use crate::{Moment, Settings, Tuning};

/// What is to be done. Each command is answered by the input named with it.
#[derive(Debug)]
pub enum Command {
    /// Read; answer with [`Machine::page`].
    Read(Read),
    /// Deliver, sending nothing after `until`; answer with [`Machine::sent`].
    Send {
        /// The lane; one batch of a lane is on the wire at a time.
        lane: Lane,
        /// What to deliver, in order.
        entries: Vec<Entry>,
        /// When the lease may be lost.
        until: Moment,
    },
    /// Deliver one event that was just committed; answer with [`Machine::sent_hot`].
    SendHot {
        /// The event.
        entry: Box<Entry>,
        /// When the lease may be lost.
        until: Moment,
    },
    /// Append lines; answer with [`Machine::appended`], or with [`Machine::append_refused`] if the database refuses it as it is. If
    /// the answer is lost, the same command comes again.
    Append(Arc<[Act]>),
    /// Ask the sink whether it is well; answer with [`Machine::pinged`].
    Ping,
    /// Renew the lease now; answer with [`Machine::census`].
    Renew,
}

/// What a sink gave back.
#[derive(Debug)]
pub struct Sent {
    /// The entries it was given.
    pub entries: Vec<Entry>,
    /// What became of each.
    pub deliveries: Vec<Delivery>,
    /// How long it had them.
    pub took: Duration,
}

/// What one relay does for one subscription.
#[derive(Debug)]
pub struct Machine {
    subscription: Subscription,
    generation: i64,
    settings: Settings,
    keeps_key_order: bool,
    rng: Rng,
    lanes: BTreeMap<Lane, HeldLane>,
    /// Lanes that were lost while something of them was on the wire. They are not taken again before it is back.
    zombies: LaneSet,
    /// Nothing is sent from then on, until the lease is renewed.
    deadline: Option<Moment>,
    stopping: bool,
    renewal_wanted: bool,
    circuit: Circuit,
    pace: Pace,
    rate: Rate,
    /// The read under way, with the epoch of each lane in it.
    reading: Option<reading::Reading>,
    /// When something parked falls due.
    next_due: Option<Moment>,
    /// Whether the lanes that are behind had the last read.
    read_behind: bool,
    /// The append under way.
    appending: Option<settling::Appending>,
    /// Acts that the database refused, alone or together with others: each is to be appended by itself.
    aside: Vec<settling::Appending>,
    /// Lanes to take, with their last lines.
    taking: Vec<LaneCensus>,
    next_move: Moment,
    /// How many sends are under way.
    sending: usize,
    /// The lane that is looked at first, so that none is always last.
    turn: u8,
    epochs: u64,
    notes: Vec<Note>,
    /// When it was polled last.
    polled: Moment,
}

impl Machine {
    /// A machine that holds nothing yet. The seed is for jitter and for the choice among free lanes.
    #[must_use]
    pub fn new(subscription: Subscription, generation: i64, settings: Settings, seed: u64) -> Self {
        Self {
            pace: Pace::new(settings.poll_min, settings.poll_max),
            rate: Rate::new(settings.rate_limits.get(&subscription.name).copied()),
            next_move: Moment::after(settings.move_interval),
            subscription,
            generation,
            settings,
            keeps_key_order: true,
            rng: Rng::with_seed(seed),
            lanes: BTreeMap::new(),
            zombies: LaneSet::EMPTY,
            deadline: None,
            stopping: false,
            renewal_wanted: false,
            circuit: Circuit::default(),
            reading: None,
            next_due: None,
            read_behind: false,
            appending: None,
            aside: Vec::new(),
            taking: Vec::new(),
            sending: 0,
            turn: 0,
            epochs: 0,
            notes: Vec::new(),
            polled: Moment::default(),
        }
    }

    /// Tells that the sink does not keep the order of a key within a batch.
    #[must_use]
    pub fn with_one_entry_a_key(mut self) -> Self {
        self.keeps_key_order = false;
        self
    }

    /// The next thing to do, if there is one now.
    pub fn poll(&mut self, now: Moment) -> Option<Command> {
        self.polled = now;
        if std::mem::take(&mut self.renewal_wanted) {
            return Some(Command::Renew);
        }
        if self.circuit.take_ping(now) {
            return Some(Command::Ping);
        }
        self.poll_send(now).or_else(|| self.poll_append(now)).or_else(|| self.poll_read(now))
    }

    /// When it wants to be polled again although nothing has come in. What was due when it was last polled, and was not done
    /// then, waits for something else. What became due since does not: whoever asks a moment later must not sleep over it.
    #[must_use]
    pub fn wake_at(&self) -> Option<Moment> {
        [
            self.next_due,
            self.circuit.wake_at(),
            self.rate.wake_at(),
            self.next_settlement(),
            self.next_shedding(),
            Some(self.next_move),
        ]
        .into_iter()
        .chain(self.pace.wake_at())
        .chain(self.lanes.values().map(HeldLane::rests_until))
        .flatten()
        .filter(|at| *at > self.polled)
        .min()
    }

    /// What it has to tell since the last time.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// The lanes it holds.
    #[must_use]
    pub fn held(&self) -> LaneSet {
        self.lanes.keys().copied().collect()
    }

    /// How many entries wait in memory.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.lanes.values().map(|lane| lane.load().0).sum()
    }

    /// Whether the destination is taken to be well.
    #[must_use]
    pub fn circuit_is_closed(&self) -> bool {
        self.circuit.is_closed()
    }

    /// Something may have been committed.
    pub fn ring(&mut self) {
        self.pace.ring();
    }

    /// Something was set anew. It counts from the next read and the next batch on.
    pub fn tune(&mut self, now: Moment, tuning: &Tuning) {
        self.settings = tuning.over(&self.settings);
        self.pace.set_bounds(now, self.settings.poll_min, self.settings.poll_max);
        self.rate.set_limit(now, tuning.rate_limits.get(&self.subscription.name).copied());
    }

    /// Stop: finish what is under way, settle it, and give every lane back.
    pub fn stop(&mut self) {
        self.stopping = true;
        self.taking.clear();
        for lane in self.held().iter() {
            self.let_go(lane);
        }
    }

    /// Whether it was stopped and holds nothing any more.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let appends = self.appending.is_some() || !self.aside.is_empty();
        self.stopping && self.lanes.is_empty() && self.sending == 0 && !appends
    }

    /// A ping came back.
    pub fn pinged(&mut self, now: Moment, answer: Result<(), Fault>) {
        if self.circuit.pinged(now, answer.is_ok()) {
            self.notes.push(Note::CircuitClosed);
        }
    }

    /// A sink gave a batch back.
    pub fn sent(&mut self, now: Moment, lane: Lane, sent: Sent) {
        self.sending -= 1;
        let Some(flight) = self.lanes.get_mut(&lane).and_then(|held| held.flight.as_mut()) else {
            self.zombies = self.zombies.without(lane);
            return;
        };
        let (subscription, circuit) = (&self.subscription, &mut self.circuit);
        let desk = &mut Desk { subscription, circuit, rng: &mut self.rng, notes: &mut self.notes, now };
        flight.resolve(sent, desk);
    }

    /// The next batch to send, from the lane whose turn it is.
    fn poll_send(&mut self, now: Moment) -> Option<Command> {
        let until = self.may_send_until(now)?;
        let held: LaneSet = self.lanes.keys().copied().collect();
        let (passed, next): (LaneSet, LaneSet) = held.iter().partition(|lane| lane.0 < self.turn);
        for lane in next.iter().chain(passed.iter()) {
            if let Some(entries) = self.load_and_send(lane, now) {
                self.turn = lane.0.wrapping_add(1);
                self.sending += 1;
                return Some(Command::Send { lane, entries, until });
            }
        }
        None
    }

    fn load_and_send(&mut self, lane: Lane, now: Moment) -> Option<Vec<Entry>> {
        let held = self.lanes.get_mut(&lane)?;
        if held.hot_sending.is_some() {
            return None;
        }
        let (subscription, circuit) = (&self.subscription, &mut self.circuit);
        let desk = &mut Desk { subscription, circuit, rng: &mut self.rng, notes: &mut self.notes, now };
        held.load_flight(self.settings.batch, desk);
        let sends = held.sends();
        let flight = held.flight.as_mut().filter(|flight| sends && flight.has_pending(now))?;
        let entries = flight.send(self.rate.room(now), self.keeps_key_order, &self.circuit, now);
        self.rate.spend(entries.len());
        Some(entries)
    }

    /// Until when something may be sent, if anything may be sent now.
    fn may_send_until(&mut self, now: Moment) -> Option<Moment> {
        let free = self.sending < self.settings.concurrency && self.circuit.lets_through(now);
        let free = free && self.rate.room(now) > 0;
        self.deadline.filter(|deadline| free && now < *deadline)
    }

    /// The most entries of one lane that are taken up together.
    fn batch(&self) -> usize {
        self.rate.batch(self.settings.batch, self.lanes.len())
    }

    fn next_epoch(&mut self) -> u64 {
        self.epochs += 1;
        self.epochs
    }

    /// The lane is to be given back. If events were delivered from memory the log is read now, to pass them.
    fn let_go(&mut self, lane: Lane) {
        if let Some(held) = self.lanes.get_mut(&lane) {
            held.giving_back = true;
            if !held.hot.is_empty() {
                self.pace.ring();
            }
        }
    }

    /// Drops a lane that somebody else has, or may have.
    fn drop_lane(&mut self, lane: Lane) {
        self.drop_aside(lane);
        if let Some(held) = self.lanes.remove(&lane)
            && (held.hot_sending.is_some() || held.flight.is_some_and(|flight| flight.is_sending()))
        {
            self.zombies.insert(lane);
        }
    }
}
