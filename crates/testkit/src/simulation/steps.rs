//! What can happen in a step of the schedule.

use std::time::Duration;

use posthaste_core::{
    DeadFilter, Entry, Event, EventId, EventRules, JobKind, JobRequest, Lane, OnDead, OperatorAct, Origin,
    ResetTo, Retention, Spot, Stamp,
};

use super::{
    plan::Plan,
    sink::Ill,
    world::{Committed, World},
};

impl World {
    /// One step: something happens, and every relay does what it wants.
    pub(super) fn step(&mut self, plan: &Plan) {
        self.steps += 1;
        let odds = plan.odds;
        let mut roll = self.rng.u32(..1_000);
        let mut hit = |odds: u32| {
            let hit = roll < odds;
            roll = roll.wrapping_sub(odds);
            hit
        };
        if hit(odds.publish) {
            self.publish(plan);
        } else if hit(odds.crash) {
            self.crash_some(plan);
        } else if hit(odds.freeze) {
            self.freeze_some();
        } else if hit(odds.retire) {
            self.retire_some(plan);
        } else if hit(odds.outage) {
            self.toggle_outage();
        } else if hit(odds.clock_jump) {
            self.jump_clock();
        } else if hit(odds.long_wait) {
            self.now += Duration::from_millis(self.rng.u64(..20_000));
            self.troubles += 1;
        } else if hit(odds.operator) {
            self.operate_something();
        } else if hit(odds.prune) {
            self.prune();
            self.work();
        } else if hit(odds.refuse) {
            self.toggle_refusal(plan);
        } else if !self.offers.is_empty() && self.rng.u8(..4) == 0 {
            let index = self.rng.usize(..self.offers.len());
            let entries = self.offers.swap_remove(index);
            self.dispatch_hot(&entries);
        } else if self.rng.u8(..4) == 0 {
            self.now += Duration::from_millis(self.rng.u64(..60));
        } else {
            self.progress();
        }
        self.run_relays();
    }

    /// A transaction with a few events, committed or rolled back; then perhaps a hot dispatch.
    pub(super) fn publish(&mut self, plan: &Plan) {
        let events: Vec<Event> = (0..self.rng.usize(1..=3)).map(|_| self.draw_event(plan)).collect();
        if self.rng.u8(..8) == 0 {
            self.rolled_back.extend(events.iter().map(|event| event.id));
            return;
        }
        let Ok(published) = self.store.publish(self.db_now(), events.clone()) else {
            return;
        };
        let mut entries = Vec::new();
        for (event, published) in events.into_iter().zip(published) {
            let spot = published.spot.expect("the log in memory tells where an event is");
            let garbled = self.rng.u8(..40) == 0;
            if garbled {
                self.store.garble(spot.position, "not JSON");
            }
            self.make_ill(event.id);
            self.committed.push(Committed {
                id: event.id,
                position: spot.position,
                lane: spot.lane,
                key: event.key.clone(),
                deliver_after: event.deliver_after,
                garbled,
            });
            if !garbled {
                entries.push(self.hot_entry(event, spot));
            }
        }
        // A hot dispatch may be late: by then the log may have been read.
        match self.rng.u8(..3) {
            0 => self.dispatch_hot(&entries),
            1 => self.offers.push(entries),
            _ => {}
        }
    }

    fn draw_event(&mut self, plan: &Plan) -> Event {
        let id = EventId::from_bytes(u128::from(self.next_event).to_be_bytes());
        self.next_event += 1;
        let mut draft = Event::of("sim").bytes("x", "text/plain");
        if self.rng.u8(..4) > 0 {
            draft = draft.key(format!("k{}", self.rng.u32(..plan.keys)));
        }
        if self.rng.u8(..12) == 0 {
            draft = draft.deliver_in(Duration::from_millis(self.rng.u64(..10_000)));
        }
        let stamp = Stamp { id, now: self.db_now() };
        draft.build(&EventRules::default(), stamp).expect("a simulated event is well formed")
    }

    pub(super) fn make_ill(&mut self, id: EventId) {
        for sink in &mut self.sinks {
            if let Some(ill) = Ill::draw(&mut self.rng) {
                sink.ills.insert(id, ill);
            }
        }
    }

    fn hot_entry(&self, event: Event, spot: Spot) -> Entry {
        Entry {
            position: spot.position,
            lane: spot.lane,
            delayed: event.deliver_after.is_some_and(|time| time > self.db_now()),
            event,
            origin: Origin::Log,
            attempts: 0,
            blocked: false,
            defect: None,
        }
    }

    /// The process that published has a relay of its own, perhaps; the others get no word.
    fn dispatch_hot(&mut self, entries: &[Entry]) {
        if self.relays.is_empty() {
            return;
        }
        let index = self.rng.usize(..self.relays.len());
        if self.relays[index].is_frozen(self.now) {
            return;
        }
        let moment = self.relays[index].moment(self.now);
        let sender = self.relays[index].id.clone();
        for subscription in 0..self.subscriptions.len() {
            for entry in entries {
                let machine = &mut self.relays[index].machines[subscription];
                if let Some(command) = machine.offer_hot(moment, entry.clone()) {
                    self.dispatch(index, subscription, command, &sender);
                }
            }
        }
    }

    fn crash_some(&mut self, plan: &Plan) {
        if !self.relays.is_empty() {
            let index = self.rng.usize(..self.relays.len());
            self.crash_relay(index);
        }
        while self.relays.len() < plan.relays && self.rng.u8(..4) > 0 {
            self.start_relay();
        }
    }

    fn freeze_some(&mut self) {
        if !self.relays.is_empty() {
            let index = self.rng.usize(..self.relays.len());
            self.troubles += 1;
            self.relays[index].frozen_until = self.now + Duration::from_millis(self.rng.u64(..40_000));
        }
    }

    /// A relay is stopped as it should be, and another started.
    fn retire_some(&mut self, plan: &Plan) {
        if !self.relays.is_empty() && self.rng.bool() {
            let index = self.rng.usize(..self.relays.len());
            self.relays[index].stop();
        }
        if self.relays.len() < plan.relays + 1 {
            self.start_relay();
        }
    }

    /// A trigger or a constraint comes up that refuses rows of one lane, or goes again.
    fn toggle_refusal(&mut self, plan: &Plan) {
        let place = (self.rng.usize(..self.subscriptions.len()), Lane(self.rng.u8(..plan.lanes)));
        if !self.refused.remove(&place) {
            self.refused.insert(place);
        }
    }

    fn toggle_outage(&mut self) {
        let index = self.rng.usize(..self.sinks.len());
        let sink = &mut self.sinks[index];
        sink.down = !sink.down;
        sink.outages += u32::from(sink.down);
        sink.ping_lies = self.rng.u8(..4) == 0;
    }

    /// Within the margin that the lease leaves; a larger jump voids it, as the docs say.
    fn jump_clock(&mut self) {
        let margin =
            i64::try_from((self.settings.lease - self.settings.sending_time()).as_micros()).unwrap_or(0);
        self.clock_jumps += 1;
        self.db_ahead = self.rng.i64(-margin / 3..margin / 3);
    }

    fn operate_something(&mut self) {
        let index = self.rng.usize(..self.subscriptions.len());
        let name = self.subscriptions[index].0.name.clone();
        match self.rng.u8(..10) {
            0 | 1 => self.operate(&OperatorAct::Pause(name)),
            2 | 3 => self.operate(&OperatorAct::Resume(name)),
            4 => self.reset(index),
            5 => self.discard(name),
            _ => self.replay(index),
        }
    }

    /// Everything is sent again; what had died comes late.
    fn reset(&mut self, index: usize) {
        let name = self.subscriptions[index].0.name.clone();
        let act = OperatorAct::Reset { subscription: name.clone(), to: ResetTo::Beginning };
        let filter =
            DeadFilter { subscription: Some(name), resolved: true, limit: 1_000, ..DeadFilter::default() };
        if self.store.act(self.db_now(), &act, "sim").is_ok() {
            self.resets[index] += 1;
            self.troubles += 1;
            let dead = self.store.dead(&filter).map(|page| page.items).unwrap_or_default();
            self.reset_late.extend(dead.into_iter().map(|letter| (index, letter.id)));
        }
    }

    /// Some by their numbers, at once; or all of them, by a job that some relay carries out bit by bit.
    fn replay(&mut self, index: usize) {
        let name = self.subscriptions[index].0.name.clone();
        let filter = DeadFilter { subscription: Some(name), ..DeadFilter::default() };
        let letters = self.store.dead(&filter).map(|page| page.items).unwrap_or_default();
        for dead in &letters {
            // Sent again it may be well: somebody has mended what was wrong.
            if self.rng.bool() {
                self.sinks[index].ills.remove(&dead.id);
            }
        }
        if self.rng.bool() {
            self.operate(&OperatorAct::Replay(letters.iter().map(|letter| letter.dead_id).collect()));
        } else {
            let per_second = self.rng.bool().then(|| self.rng.u32(1..4));
            self.operate(&OperatorAct::Start(JobRequest {
                kind: JobKind::Replay,
                matching: filter,
                per_second,
            }));
        }
    }

    fn discard(&mut self, name: String) {
        let filter = DeadFilter { subscription: Some(name), ..DeadFilter::default() };
        let letters = self.store.dead(&filter).map(|page| page.items).unwrap_or_default();
        self.operate(&OperatorAct::Discard(letters.iter().map(|letter| letter.dead_id).collect()));
    }

    /// An operator's act; a refusal is an answer too.
    pub(super) fn operate(&mut self, act: &OperatorAct) {
        _ = self.store.act(self.db_now(), act, "sim");
    }

    /// Somebody looks at the keys that wait for a person, and gives the dead up.
    pub(super) fn release_held(&mut self) {
        for index in 0..self.subscriptions.len() {
            if self.subscriptions[index].0.on_dead == OnDead::Hold {
                self.discard(self.subscriptions[index].0.name.clone());
            }
        }
    }

    /// Some relay carries on with the jobs.
    pub(super) fn work(&mut self) {
        self.store.work(self.db_now());
    }

    fn prune(&mut self) {
        const DAY: Duration = Duration::from_secs(86_400);
        let seconds = Duration::from_secs(self.rng.u64(..30));
        let retention = Retention { events: seconds, lines: seconds, journal: DAY, dead: DAY, step: 3 };
        self.store.prune(self.db_now(), &retention);
    }
}
