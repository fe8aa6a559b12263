//! The world: one true time, one log, its relays and sinks, and the messages between them.

use std::{collections::HashSet, time::Duration};

use fastrand::Rng;
use posthaste_core::{
    Entry, EventId, Lane, Position, RelayId, Start, Subscription, Timestamp, memory::MemoryStore,
};
use posthaste_relay::{Settings, machine::Command};

use super::{
    QUIET_WITHIN,
    plan::Plan,
    relay::SimRelay,
    sink::SimSink,
    transit::{Body, Message, Sending},
    verdict::Breach,
};

/// More commands than this in one moment, without an answer, are a loop.
const COMMANDS_AT_ONCE: u32 = 100;

/// Everything there is.
#[derive(Debug)]
pub(super) struct World {
    pub(super) rng: Rng,
    /// The true time.
    pub(super) now: Duration,
    /// How far the database's clock is ahead of it, in microseconds.
    pub(super) db_ahead: i64,
    pub(super) store: MemoryStore,
    pub(super) subscriptions: Vec<(Subscription, i64)>,
    pub(super) settings: Settings,
    pub(super) relays: Vec<SimRelay>,
    pub(super) sinks: Vec<SimSink>,
    pub(super) messages: Vec<Message>,
    pub(super) committed: Vec<Committed>,
    /// Hot dispatches that come late.
    pub(super) offers: Vec<Vec<Entry>>,
    pub(super) rolled_back: Vec<EventId>,
    /// What had died before an operator moved a cursor back, in which subscription: it is late by definition.
    pub(super) reset_late: Vec<(usize, EventId)>,
    /// Where each subscription began.
    pub(super) starts: Vec<Position>,
    /// How often an operator moved the cursor of each.
    pub(super) resets: Vec<u64>,
    /// What can make a repeat: crashes, lost answers, pauses beyond a lease, resets.
    pub(super) troubles: u64,
    /// How often the database's clock jumped.
    pub(super) clock_jumps: u64,
    /// The subscriptions and lanes in which the database takes no row but lines.
    pub(super) refused: HashSet<(usize, Lane)>,
    pub(super) lose: u32,
    pub(super) slowness: u32,
    pub(super) crashes: u64,
    pub(super) steps: u64,
    pub(super) next_life: u64,
    pub(super) next_event: u64,
    pub(super) breaches: Vec<Breach>,
}

/// An event whose transaction committed.
#[derive(Clone, Debug)]
pub(super) struct Committed {
    pub(super) id: EventId,
    pub(super) position: Position,
    pub(super) lane: Lane,
    pub(super) key: Option<String>,
    pub(super) deliver_after: Option<Timestamp>,
    pub(super) garbled: bool,
}

impl World {
    pub(super) fn new(plan: &Plan, rng: Rng) -> Self {
        let mut world = Self {
            rng,
            now: Duration::from_secs(1),
            db_ahead: 0,
            store: MemoryStore::new(plan.lanes),
            subscriptions: Vec::new(),
            settings: plan.settings.clone(),
            relays: Vec::new(),
            sinks: Vec::new(),
            messages: Vec::new(),
            committed: Vec::new(),
            offers: Vec::new(),
            rolled_back: Vec::new(),
            reset_late: Vec::new(),
            starts: Vec::new(),
            resets: vec![0; plan.subscriptions.len()],
            troubles: 0,
            clock_jumps: 0,
            refused: HashSet::new(),
            lose: plan.odds.lose,
            slowness: plan.slowness,
            crashes: 0,
            steps: 0,
            next_life: 1,
            next_event: 1,
            breaches: Vec::new(),
        };
        // A few events are there before the first subscription is.
        for _ in 0..world.rng.u32(..3) {
            world.publish(plan);
        }
        for subscription in &plan.subscriptions {
            let generation = world.store.subscribe(world.db_now(), subscription).generation;
            world.subscriptions.push((subscription.clone(), generation));
            world.sinks.push(SimSink::default());
            let last = world.committed.last().map_or(Position(0), |event| event.position);
            world.starts.push(if subscription.start == Start::Now { last } else { Position(0) });
        }
        for committed in world.committed.clone() {
            world.make_ill(committed.id);
        }
        for _ in 0..plan.relays {
            world.start_relay();
        }
        world
    }

    /// The time by the database's clock.
    pub(super) fn db_now(&self) -> Timestamp {
        const EPOCH: Timestamp = Timestamp(1_000_000_000);
        Timestamp((EPOCH + self.now).0 + self.db_ahead)
    }

    pub(super) fn start_relay(&mut self) {
        let relay = SimRelay::start(self.next_life, self.now, &self.subscriptions, &self.settings);
        self.next_life += 1;
        self.relays.push(relay);
    }

    /// The process is gone, with everything it had in memory and on the wire.
    pub(super) fn crash_relay(&mut self, index: usize) {
        let life = self.relays.remove(index).life;
        self.messages.retain(|message| message.life != life || !message.body.dies_with_its_relay());
        self.crashes += 1;
        self.troubles += 1;
    }

    /// Lets every relay that runs do what it wants to do now.
    pub(super) fn run_relays(&mut self) {
        let names: Vec<String> =
            self.subscriptions.iter().map(|(subscription, _)| subscription.name.clone()).collect();
        let mut gone = Vec::new();
        for index in 0..self.relays.len() {
            if self.relays[index].is_frozen(self.now) {
                continue;
            }
            self.run_relay(index, &names);
            if self.relays[index].is_stopped() {
                gone.push(index);
            }
        }
        for index in gone.into_iter().rev() {
            let relay = self.relays.remove(index);
            self.store.leave(&relay.id);
        }
    }

    fn run_relay(&mut self, index: usize, names: &[String]) {
        let relay = &mut self.relays[index];
        let moment = relay.moment(self.now);
        let (life, sender) = (relay.life, relay.id.clone());
        if let Some(lease) = relay.next_lease(self.now, names) {
            let body = Body::HoldAsked { lease, asked: moment };
            self.messages.push(Message { life, sender: sender.clone(), subscription: 0, body });
        }
        for subscription in 0..relay.machines.len() {
            let mut commands = 0;
            while let Some(command) = self.relays[index].machines[subscription].poll(moment) {
                self.dispatch(index, subscription, command, &sender);
                commands += 1;
                if commands > COMMANDS_AT_ONCE {
                    self.breaches
                        .push(Breach::new("never at rest", format!("relay {sender} at {:?}", self.now)));
                    break;
                }
            }
        }
    }

    /// Puts a command on its way.
    pub(super) fn dispatch(&mut self, index: usize, subscription: usize, command: Command, sender: &RelayId) {
        let relay = &mut self.relays[index];
        let (life, now) = (relay.life, relay.moment(self.now));
        let body = match command {
            Command::Renew => return relay.renew_now(),
            Command::Read(read) => Body::ReadAsked(read),
            Command::Append(acts) => Body::AppendAsked(acts),
            Command::Ping => Body::PingAsked,
            Command::Send { lane, entries, until } => {
                if until <= now {
                    self.breaches
                        .push(Breach::new("sent after its deadline", format!("relay {sender}, lane {lane}")));
                }
                Body::Sending(Sending {
                    lane,
                    entries,
                    deliveries: Vec::new(),
                    until,
                    hot: false,
                    began: self.now,
                })
            }
            Command::SendHot { entry, until } => {
                let (lane, entries) = (entry.lane, vec![*entry]);
                Body::Sending(Sending {
                    lane,
                    entries,
                    deliveries: Vec::new(),
                    until,
                    hot: true,
                    began: self.now,
                })
            }
        };
        self.messages.push(Message { life, sender: sender.clone(), subscription, body });
    }

    /// Ends all trouble: sinks are up, nothing is lost, nobody is frozen or paused, and a relay runs.
    pub(super) fn heal(&mut self) {
        self.lose = 0;
        self.slowness = 1;
        self.refused.clear();
        for sink in &mut self.sinks {
            sink.down = false;
            sink.ping_lies = false;
        }
        for relay in &mut self.relays {
            relay.frozen_until = Duration::ZERO;
        }
        for (subscription, _) in &self.subscriptions.clone() {
            self.operate(&posthaste_core::OperatorAct::Resume(subscription.name.clone()));
        }
        // Some would need longer than is left to stop as they should.
        self.troubles += self.relays.iter().filter(|relay| relay.stopping).count() as u64;
        self.relays.retain(|relay| !relay.stopping);
        let lives: HashSet<u64> = self.relays.iter().map(|relay| relay.life).collect();
        self.messages.retain(|message| lives.contains(&message.life) || !message.body.dies_with_its_relay());
        self.start_relay();
    }

    /// Runs until everything is delivered or dead; false if that does not come.
    pub(super) fn settle_down(&mut self) -> bool {
        let end = self.now + QUIET_WITHIN;
        while self.now < end {
            self.work();
            self.run_relays();
            for _ in 0..1 + self.messages.len() * 2 {
                self.progress();
                self.run_relays();
            }
            if !self.breaches.is_empty() || self.is_quiet() {
                return true;
            }
            let step = self.rng.u64(1..400);
            self.now += Duration::from_millis(step);
        }
        false
    }

    /// Whether nothing is left to deliver. Keys that wait for a person do not count.
    fn is_quiet(&mut self) -> bool {
        let status = self.store.status(self.db_now());
        let waiting = status.subscriptions.iter().any(|subscription| {
            subscription.pending > 0 || subscription.delayed > 0 || subscription.failed > 0
        });
        if waiting
            && status
                .subscriptions
                .iter()
                .all(|subscription| subscription.dead > 0 || subscription.failed == 0)
        {
            self.release_held();
        }
        !waiting && status.jobs.iter().all(|job| job.state.is_over())
    }
}
