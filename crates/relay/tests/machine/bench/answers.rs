//! How what the machine asked for is answered: one thing at a time, or everything.

use std::{sync::Arc, time::Duration};

use posthaste_core::{Act, Appended, Delivery, Entry, Lane, Page, Read};
use posthaste_relay::machine::Sent;

use super::{Batch, Bench, NAME};

impl Bench {
    /// Answers every read, and fetches what the machine wants then, until it wants no more reads.
    pub(crate) fn read_on(&mut self) {
        self.drain();
        while let Some(read) = self.reads.pop_front() {
            self.answer_read(&read);
            self.drain();
        }
    }

    pub(crate) fn answer_read(&mut self, read: &Read) -> Page {
        let page = self.store.read(self.db_now(), read);
        self.statements.0 += 1;
        self.machine.page(self.now, Some(page.clone()));
        page
    }

    /// The oldest batch on the wire. Reads are answered on the way to it.
    pub(crate) fn send(&mut self) -> Batch {
        self.read_on();
        self.sends.pop_front().expect("something is sent")
    }

    /// The same, as soon as there is one: time passes until then.
    pub(crate) fn send_or_wait(&mut self) -> Batch {
        self.read_on();
        while self.sends.is_empty() {
            self.now = self.machine.wake_at().expect("it wants to be woken");
            self.read_on();
        }
        self.send()
    }

    /// A minute passes in which nobody answers but the log to what it is asked, and to renewals.
    pub(crate) fn idle_on(&mut self) {
        let end = self.now + Duration::from_secs(60);
        while self.now < end {
            self.renew();
            self.read_on();
            self.now = self.machine.wake_at().map_or(end, |wake| wake.min(end));
        }
        self.renew();
        self.read_on();
    }

    /// The batch of this lane that is on the wire.
    pub(crate) fn send_of(&mut self, lane: Lane) -> Batch {
        self.read_on();
        let index = self.sends.iter().position(|batch| batch.lane == lane).expect("the lane sends");
        self.sends.remove(index).unwrap()
    }

    /// The sink gives a batch back, with this verdict on each entry, as far as nothing of its key failed before.
    pub(crate) fn answer_send(&mut self, batch: Batch, mut verdict: impl FnMut(&Entry) -> Delivery) {
        let mut stopped: Vec<&String> = Vec::new();
        let mut deliveries = Vec::new();
        for entry in &batch.entries {
            let key = entry.event.key.as_ref();
            let after_a_fault = key.is_some_and(|key| stopped.contains(&key));
            let delivery = if after_a_fault { Delivery::NotSent } else { verdict(entry) };
            match delivery {
                Delivery::Delivered => self.received.push(entry.position),
                _ => stopped.extend(key),
            }
            deliveries.push(delivery);
        }
        self.give_back(batch, deliveries);
    }

    /// The sink delivers the first entry and says nothing about the others.
    pub(crate) fn answer_first(&mut self, batch: Batch) {
        self.received.push(batch.entries[0].position);
        self.give_back(batch, vec![Delivery::Delivered]);
    }

    fn give_back(&mut self, batch: Batch, deliveries: Vec<Delivery>) {
        let Batch { lane, entries, began, .. } = batch;
        self.machine.sent(self.now, lane, Sent { entries, deliveries, took: self.now.since(began) });
    }

    /// The append that is on its way takes effect and is answered.
    pub(crate) fn append(&mut self) -> Arc<[Act]> {
        let acts = self.appends.pop_front().expect("something is appended");
        let answers = self.apply(&acts);
        self.machine.appended(self.now, Some(answers));
        acts
    }

    /// The append takes effect, and nobody hears of it yet.
    pub(crate) fn apply(&mut self, acts: &[Act]) -> Vec<Appended> {
        self.statements.1 += 1;
        self.store.append(self.db_now(), NAME, &self.me, acts)
    }

    /// Answers every append that the machine wants now, and nothing else.
    pub(crate) fn settle(&mut self) {
        self.drain();
        while !self.appends.is_empty() {
            self.append();
            self.drain();
        }
    }

    /// The same, of a database that refuses every append with such an act in it. Answers what it refused.
    pub(crate) fn settle_unless(&mut self, refuses: impl Fn(&Act) -> bool) -> Vec<Act> {
        let mut refused = Vec::new();
        self.drain();
        while let Some(acts) = self.appends.front() {
            if acts.iter().any(&refuses) {
                refused.extend(acts.iter().cloned());
                self.appends.pop_front();
                self.machine.append_refused(self.now, "no");
            } else {
                self.append();
            }
            self.drain();
        }
        refused
    }

    /// Lets time pass with such a database, and a sink that takes everything.
    pub(crate) fn run_unless(&mut self, span: Duration, refuses: impl Fn(&Act) -> bool) {
        self.run_unless_faulty(span, refuses, super::well);
    }

    /// The same with this sink.
    pub(crate) fn run_unless_faulty(
        &mut self,
        span: Duration,
        refuses: impl Fn(&Act) -> bool,
        mut verdict: impl FnMut(&Entry) -> Delivery,
    ) {
        let end = self.now + span;
        while self.now < end {
            self.renew();
            self.read_on();
            while let Some(batch) = self.sends.pop_front() {
                self.answer_send(batch, &mut verdict);
                self.settle_unless(&refuses);
                self.read_on();
            }
            self.settle_unless(&refuses);
            self.now = self.machine.wake_at().map_or(end, |wake| wake.min(end));
        }
    }

    /// Offers an event that was just committed; answers whether it is on the wire.
    pub(crate) fn offer(&mut self, entry: &Entry) -> bool {
        let command = self.machine.offer_hot(self.now, entry.clone());
        let goes_hot = command.is_some();
        if let Some(command) = command {
            self.keep(command);
        }
        goes_hot
    }

    /// The sink gives an event back that came from memory.
    pub(crate) fn answer_hot(&mut self, entry: &Entry, delivery: Delivery) {
        self.hot_sends.retain(|hot| hot.position != entry.position);
        if delivery == Delivery::Delivered {
            self.received.push(entry.position);
        }
        self.machine.sent_hot(self.now, entry, delivery);
    }

    /// Answers everything, at this moment, until the machine wants nothing more.
    pub(crate) fn run(&mut self, mut verdict: impl FnMut(&Entry) -> Delivery) {
        loop {
            self.read_on();
            if let Some(batch) = self.sends.pop_front() {
                self.answer_send(batch, &mut verdict);
            } else if let Some(entry) = self.hot_sends.pop_front() {
                let delivery = verdict(&entry);
                self.answer_hot(&entry, delivery);
            } else if !self.appends.is_empty() {
                self.append();
            } else if self.pings > 0 {
                self.pings -= 1;
                self.machine.pinged(self.now, Ok(()));
            } else if self.renewals > 0 {
                self.renewals = 0;
                self.renew();
            } else {
                return;
            }
        }
    }

    /// Lets time pass as a relay sees it: it wakes when it wants to, and renews its lease at a third of it.
    pub(crate) fn run_for(&mut self, span: Duration, mut verdict: impl FnMut(&Entry) -> Delivery) {
        let end = self.now + span;
        let mut renewal = self.now;
        loop {
            if renewal <= self.now {
                self.renew();
                renewal = self.now + self.settings.lease / 3;
            }
            self.run(&mut verdict);
            if self.now >= end {
                return;
            }
            let wake = self.machine.wake_at().unwrap_or(end);
            self.now = wake.min(renewal).min(end);
        }
    }
}
