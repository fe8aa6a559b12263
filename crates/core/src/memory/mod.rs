//! A log in memory: the shortest complete implementation of the contract, for tests and simulations.
//!
//! [`MemoryStore`] is plain, synchronous and deterministic: time is an argument of every call, nothing waits and
//! nothing is random, so that a simulation can drive it with millions of calls and a seed replays exactly.
//! [`MemoryLog`] puts it behind the traits [`Log`](crate::Log) and [`Admin`](crate::Admin), with a clock, a doorbell
//! and transactions.

mod append;
mod bell;
mod chain;
mod dead;
mod events;
mod foresee;
mod hold;
mod jobs;
mod journal;
mod lanes;
mod listing;
mod log;
mod operate;
mod parked;
mod prune;
mod publish;
mod read;
mod reset;
mod status;
mod timeline;
mod transaction;

use std::collections::BTreeMap;

pub use chain::Line;
pub use log::MemoryLog;
pub use transaction::MemoryTransaction;

use self::{
    chain::Chain, dead::DeadTable, events::EventTable, jobs::JobTable, journal::Journal, parked::ParkedTable,
};
use crate::{
    Capabilities, Cursor, DEFAULT_PAYLOAD_LIMIT, Error, Filter, Lane, MAX_LANES, Order, Position, RelayId,
    Result, Start, Subscribed, Subscription, Timestamp, driver::refuse,
};

/// The tables of a log, as plain values. A clone is a snapshot that lives on by itself.
#[derive(Clone, Debug)]
pub struct MemoryStore {
    lanes: u8,
    payload_limit: usize,
    log: EventTable,
    subscriptions: BTreeMap<String, SubscriptionRow>,
    relays: BTreeMap<RelayId, RelayRow>,
    dead: DeadTable,
    journal: Journal,
    jobs: JobTable,
    dropped: Dropped,
    refuses_dead: bool,
}

/// The highest numbers that a subscription had that was dropped. Those that are made later begin behind them, so that whoever served
/// one of the same name before cannot meet a number of its own by chance.
#[derive(Clone, Copy, Debug, Default)]
struct Dropped {
    line: i64,
    generation: i64,
}

/// A subscription with everything that goes when it is dropped.
#[derive(Clone, Debug)]
struct SubscriptionRow {
    filter: Filter,
    order: Order,
    generation: i64,
    paused: bool,
    /// Where it began: what lies before was never meant for it.
    start: Position,
    chains: Vec<Chain>,
    parked: ParkedTable,
}

#[derive(Clone, Debug)]
struct RelayRow {
    host: String,
    version: String,
    subscriptions: Vec<String>,
    started_at: Timestamp,
    held_until: Timestamp,
}

impl MemoryStore {
    /// An empty log with this many lanes: at least 1, at most [`MAX_LANES`].
    #[must_use]
    pub fn new(lanes: u8) -> Self {
        let lanes = lanes.clamp(1, MAX_LANES);
        Self {
            lanes,
            payload_limit: DEFAULT_PAYLOAD_LIMIT,
            log: EventTable::new(lanes),
            subscriptions: BTreeMap::new(),
            relays: BTreeMap::new(),
            dead: DeadTable::default(),
            journal: Journal::default(),
            jobs: JobTable::default(),
            dropped: Dropped::default(),
            refuses_dead: false,
        }
    }

    /// Payloads over this many bytes are not yielded from now on: such an event is one that cannot be delivered. 1 MiB unless set.
    pub fn set_payload_limit(&mut self, bytes: usize) {
        self.payload_limit = bytes;
    }

    /// What this log can do. Nobody but this process can commit to it, so its doorbell rings for everything.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        Capabilities { lanes: self.lanes, doorbell: true }
    }

    /// Creates the subscription with a first line for every lane, or finds it; another filter or order makes a new
    /// generation.
    pub fn subscribe(&mut self, now: Timestamp, subscription: &Subscription) -> Subscribed {
        if let Some(row) = self.subscriptions.get_mut(&subscription.name) {
            if row.filter != subscription.filter || row.order != subscription.order {
                row.filter = subscription.filter.clone();
                row.order = subscription.order;
                row.generation += 1;
            }
            return Subscribed { generation: row.generation };
        }
        let start = match subscription.start {
            Start::Beginning => Position(0),
            Start::Now => self.log.last(),
        };
        let row = SubscriptionRow {
            filter: subscription.filter.clone(),
            order: subscription.order,
            generation: self.dropped.generation + 1,
            paused: false,
            start,
            chains: (0..self.lanes)
                .map(|_| Chain::begin(self.dropped.line + 1, Cursor::at(start), now))
                .collect(),
            parked: ParkedTable::default(),
        };
        let generation = row.generation;
        self.subscriptions.insert(subscription.name.clone(), row);
        Subscribed { generation }
    }

    /// The lines that are still there of one lane, oldest first; none if there is no such subscription or lane.
    pub fn lines(&self, subscription: &str, lane: Lane) -> impl Iterator<Item = &Line> {
        let chain = self.subscriptions.get(subscription).and_then(|row| row.chains.get(usize::from(lane.0)));
        chain.into_iter().flat_map(Chain::lines)
    }

    /// Where something is parked in this subscription, in order.
    pub fn parked_positions(&self, subscription: &str) -> impl Iterator<Item = Position> {
        self.subscriptions.get(subscription).into_iter().flat_map(|row| row.parked.positions())
    }

    /// The names of the subscriptions, in order.
    pub fn subscription_names(&self) -> impl Iterator<Item = &str> {
        self.subscriptions.keys().map(String::as_str)
    }

    /// Damages the log as a broken restore would: removes all lines of one lane.
    pub fn lose_lines(&mut self, subscription: &str, lane: Lane) {
        if let Some(row) = self.subscriptions.get_mut(subscription)
            && let Some(chain) = row.chains.get_mut(usize::from(lane.0))
        {
            chain.clear();
        }
    }

    /// Damages a row as a foreign publisher could: it reads as one that cannot be understood.
    pub fn garble(&mut self, position: Position, why: &str) {
        self.log.garble(position, why);
    }

    /// Takes no dead letter any more, as a database with a constraint that none fulfils.
    pub fn refuse_dead(&mut self) {
        self.refuses_dead = true;
    }

    fn subscription(&self, name: &str) -> Result<&SubscriptionRow> {
        self.subscriptions.get(name).ok_or_else(|| self.unknown_subscription(name))
    }

    fn unknown_subscription(&self, name: &str) -> Error {
        let names: Vec<String> = self.subscription_names().map(str::to_owned).collect();
        refuse::no_subscription(name, &names)
    }

    fn is_live(&self, relay: &RelayId, now: Timestamp) -> bool {
        self.relays.get(relay).is_some_and(|row| row.held_until >= now)
    }
}

impl SubscriptionRow {
    fn chain(&self, lane: Lane) -> &Chain {
        &self.chains[usize::from(lane.0)]
    }
}
