//! The hot path: an event without order, whose commit Posthaste itself saw, is delivered from memory.
//!
//! It is only a shortcut to what the log has: the position is remembered until the cursor passes it, and a failed
//! send is forgotten, because the log will yield the event. What was delivered is settled with the log, which is read soon for it.

use std::time::Duration;

use posthaste_core::{Delivery, Entry, FaultKind, Order};

use super::{Command, Machine, Note};
use crate::Moment;

impl Machine {
    /// Offers an event that was just committed. Answers with the send, or with nothing if the log is read instead.
    pub fn offer_hot(&mut self, now: Moment, entry: Entry) -> Option<Command> {
        let ordered = self.subscription.order == Order::Key && entry.event.key.is_some();
        let marks = self.settings.hot_marks;
        let until = self.may_send_until(now);
        let fits = !ordered && !entry.delayed && self.subscription.filter.matches(&entry.event);
        let held =
            self.lanes.get_mut(&entry.lane).filter(|held| fits && held.takes_hot(entry.position, marks));
        let (Some(held), Some(until)) = (held, until) else {
            self.ring();
            return None;
        };
        held.hot_sending = Some((entry.position, self.circuit.epoch()));
        self.sending += 1;
        self.rate.spend(1);
        Some(Command::SendHot { entry: Box::new(entry), until })
    }

    /// A sink gave an event back that came from memory.
    pub fn sent_hot(&mut self, now: Moment, entry: &Entry, delivery: Delivery) {
        self.sending -= 1;
        let mut held = self.lanes.get_mut(&entry.lane);
        let sent = held.as_mut().and_then(|held| held.hot_sending.take_if(|(at, _)| *at == entry.position));
        let (Some(held), Some((_, epoch))) = (held, sent) else {
            self.zombies = self.zombies.without(entry.lane);
            return;
        };
        match delivery {
            Delivery::Delivered => {
                held.hot.insert(entry.position);
                self.circuit.delivered(1, epoch);
                if !held.giving_back {
                    self.pace.read_by(now + self.settings.settle_interval);
                    return;
                }
                // The lane waits for the log to pass it.
            }
            Delivery::Failed(fault) => match fault.kind {
                FaultKind::Unavailable => {
                    if self.circuit.open(now) {
                        self.notes.push(Note::CircuitOpened { error: fault.message });
                    }
                }
                FaultKind::Throttled { retry_after } => self.throttle(now, retry_after),
                FaultKind::Transient | FaultKind::Permanent => {}
            },
            Delivery::NotSent => {}
        }
        self.ring();
    }

    fn throttle(&mut self, now: Moment, wait: Duration) {
        if self.circuit.throttle(now, wait) {
            self.notes.push(Note::Throttled { wait });
        }
    }
}
