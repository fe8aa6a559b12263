//! Messages arriving: at the log, at a sink, or back at the relay that asked.

use posthaste_core::{Act, Delivery, RelayId};
use posthaste_relay::{Moment, machine::Sent};

use super::{
    transit::{Body, Message, Sending},
    verdict::Breach,
    world::World,
};

impl World {
    /// One message, any one, comes a step further.
    pub(super) fn progress(&mut self) {
        if self.messages.is_empty() {
            return;
        }
        let index = self.rng.usize(..self.messages.len());
        if matches!(self.messages[index].body, Body::Sending(_)) && self.rng.u32(..self.slowness) > 0 {
            return;
        }
        let message = self.messages.swap_remove(index);
        let Message { life, sender, subscription, body } = message;
        let lost = self.rng.u32(..1_000) < self.lose;
        self.troubles += u64::from(lost);
        let before = lost && self.rng.bool();
        let name = self.subscriptions[subscription].0.name.clone();
        let now = self.db_now();
        let answer = match body {
            Body::ReadAsked(read) => Body::ReadAnswered((!lost).then(|| self.store.read(now, &read))),
            Body::AppendAsked(acts) if before => {
                drop(acts);
                Body::AppendAnswered(None)
            }
            Body::AppendAsked(acts) if self.is_refused(subscription, &acts) => match lost {
                true => Body::AppendAnswered(None),
                false => Body::AppendRefused,
            },
            Body::AppendAsked(acts) => {
                let answers = self.store.append(now, &name, &sender, &acts);
                Body::AppendAnswered((!lost).then_some(answers))
            }
            Body::HoldAsked { asked, .. } if before => Body::HoldAnswered { hold: None, asked },
            Body::HoldAsked { lease, asked } => {
                let hold = self.store.hold(now, &lease).ok();
                Body::HoldAnswered { hold: hold.filter(|_| !lost), asked }
            }
            Body::PingAsked => Body::Pinged(self.sinks[subscription].ping()),
            body => return self.arrive(Message { life, sender, subscription, body }),
        };
        self.messages.push(Message { life, sender, subscription, body: answer });
    }

    /// Whether the database does not take these acts: something is wrong with a table in which one of them writes.
    fn is_refused(&self, subscription: usize, acts: &[Act]) -> bool {
        acts.iter().any(|act| !act.changes.is_empty() && self.refused.contains(&(subscription, act.lane)))
    }

    /// Something comes back to its relay, unless that is gone or frozen.
    fn arrive(&mut self, message: Message) {
        let Some(index) = self.relays.iter().position(|relay| relay.life == message.life) else { return };
        if self.relays[index].is_frozen(self.now) {
            self.messages.push(message);
            return;
        }
        let relay = &mut self.relays[index];
        let moment = relay.moment(self.now);
        let machine = &mut relay.machines[message.subscription];
        match message.body {
            Body::ReadAnswered(page) => machine.page(moment, page),
            Body::AppendAnswered(answers) => machine.appended(moment, answers),
            Body::AppendRefused => machine.append_refused(moment, "refused on purpose"),
            Body::Pinged(answer) => machine.pinged(moment, answer),
            Body::HoldAnswered { hold, asked } => relay.take_hold(self.now, hold, asked),
            Body::Sending(sending) => {
                self.check_holder(&message.sender, message.subscription, moment, &sending);
                if let Some(sending) =
                    self.deliver_some(index, &message.sender, message.subscription, sending)
                {
                    let body = Body::Sending(sending);
                    self.messages.push(Message { body, ..message });
                }
            }
            Body::ReadAsked(_) | Body::AppendAsked(_) | Body::HoldAsked { .. } | Body::PingAsked => {}
        }
    }

    /// Rule 3: only the holder of a lane delivers from it. Whoever may still send is named by the lane's last line.
    fn check_holder(&mut self, sender: &RelayId, subscription: usize, moment: Moment, sending: &Sending) {
        let name = &self.subscriptions[subscription].0.name;
        let holder = self.store.lines(name, sending.lane).last().and_then(|line| line.relay.as_ref());
        if moment < sending.until && holder != Some(sender) {
            let detail = format!("{sender} sends from lane {} of {name}, held by {holder:?}", sending.lane);
            self.breaches.push(Breach::new("delivered without holding the lane", detail));
        }
    }

    /// The sink takes one entry after another; when all have an answer, the batch goes back.
    fn deliver_some(
        &mut self,
        index: usize,
        sender: &RelayId,
        subscription: usize,
        mut sending: Sending,
    ) -> Option<Sending> {
        let (moment, at) = (self.relays[index].moment(self.now), self.db_now());
        for _ in 0..self.rng.usize(1..=sending.entries.len().max(1)) {
            let Some(entry) = sending.entries.get(sending.deliveries.len()) else { break };
            let stopped = moment >= sending.until || failed_before(&sending, entry.event.key.as_deref());
            let delivery =
                if stopped { Delivery::NotSent } else { self.sinks[subscription].take(entry, at, sender) };
            sending.deliveries.push(delivery);
        }
        if sending.deliveries.len() < sending.entries.len() {
            return Some(sending);
        }
        let machine = &mut self.relays[index].machines[subscription];
        let took = self.now.saturating_sub(sending.began);
        let Sending { lane, entries, mut deliveries, hot, .. } = sending;
        if hot {
            machine.sent_hot(moment, &entries[0], deliveries.pop().unwrap_or(Delivery::NotSent));
        } else {
            machine.sent(moment, lane, Sent { entries, deliveries, took });
        }
        None
    }
}

/// A sink's promise: nothing of a key goes after its fault.
fn failed_before(sending: &Sending, key: Option<&str>) -> bool {
    key.is_some()
        && sending
            .entries
            .iter()
            .zip(&sending.deliveries)
            .any(|(entry, delivery)| entry.event.key.as_deref() == key && *delivery != Delivery::Delivered)
}
