//! The circuit of a subscription: while its destination is down nothing is sent, and the destination is pinged, later
//! and later. It closes when a ping succeeds; how long it waited is forgotten only when something was delivered.

use std::time::Duration;

use crate::Moment;

const FIRST_PING: Duration = Duration::from_millis(100);
const SLOWEST_PING: Duration = Duration::from_secs(15);

#[derive(Debug, Default)]
pub(super) struct Circuit {
    state: State,
    /// How often it has opened since the last delivery.
    openings: u32,
    /// Counts how often it has closed again.
    epoch: u64,
    /// The latest epoch in which something was sent and delivered: proof of health for whoever failed before it.
    proved: Option<u64>,
    /// The destination asked to wait until then.
    throttled_until: Option<Moment>,
}

#[derive(Debug, Default, PartialEq)]
enum State {
    #[default]
    Closed,
    Open {
        ping_at: Moment,
    },
    Pinging,
}

impl Circuit {
    /// Whether something may be sent.
    pub(super) fn lets_through(&self, now: Moment) -> bool {
        self.state == State::Closed && self.throttled_until.is_none_or(|until| until <= now)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// What a send that begins now is part of.
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Entries that were sent in this epoch have been delivered.
    pub(super) fn delivered(&mut self, count: u64, epoch: u64) {
        if count > 0 {
            self.proved = self.proved.max(Some(epoch));
            self.openings = 0;
        }
    }

    /// The latest epoch in which something was sent that was delivered.
    pub(super) fn proved(&self) -> Option<u64> {
        self.proved
    }

    /// The destination is down. Answers whether that is news.
    pub(super) fn open(&mut self, now: Moment) -> bool {
        if self.state != State::Closed {
            return false;
        }
        self.state = State::Open { ping_at: now + self.wait() };
        self.openings = self.openings.saturating_add(1);
        true
    }

    /// The destination asks to wait. Answers whether that is news: of a batch each entry may say so.
    pub(super) fn throttle(&mut self, now: Moment, wait: Duration) -> bool {
        let news = self.throttled_until.is_none_or(|until| until <= now);
        self.throttled_until = self.throttled_until.max(Some(now + wait));
        news
    }

    /// Whether the destination is to be pinged now; if so, a ping is under way from here on.
    pub(super) fn take_ping(&mut self, now: Moment) -> bool {
        let due = matches!(self.state, State::Open { ping_at } if ping_at <= now);
        if due {
            self.state = State::Pinging;
        }
        due
    }

    /// A ping came back. Answers whether the circuit is closed now.
    pub(super) fn pinged(&mut self, now: Moment, healthy: bool) -> bool {
        if self.state == State::Pinging {
            self.state = if healthy { State::Closed } else { State::Open { ping_at: now + self.wait() } };
            self.openings = self.openings.saturating_add(u32::from(!healthy));
            self.epoch += u64::from(healthy);
        }
        self.is_closed()
    }

    /// When it wants to be asked again.
    pub(super) fn wake_at(&self) -> Option<Moment> {
        match self.state {
            State::Open { ping_at } => Some(ping_at),
            State::Closed => self.throttled_until,
            State::Pinging => None,
        }
    }

    fn wait(&self) -> Duration {
        FIRST_PING.saturating_mul(1 << self.openings.min(16)).min(SLOWEST_PING)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pings_later_and_later_until_something_is_delivered() {
        let mut circuit = Circuit::default();
        let mut now = Moment::default();
        let mut waits = Vec::new();
        circuit.open(now);
        for _ in 0..4 {
            let at = circuit.wake_at().unwrap();
            waits.push(at.since(now).as_millis());
            now = at;
            assert!(circuit.take_ping(now) && !circuit.take_ping(now));
            assert!(!circuit.pinged(now, false));
        }
        assert_eq!(waits, [100, 200, 400, 800]);

        now = circuit.wake_at().unwrap();
        assert!(circuit.take_ping(now) && circuit.pinged(now, true) && circuit.lets_through(now));
        assert_eq!(circuit.proved(), None);
        circuit.delivered(1, circuit.epoch());
        assert_eq!(circuit.proved(), Some(1));
        circuit.open(now);
        assert_eq!(circuit.wake_at().unwrap().since(now), FIRST_PING);
    }

    #[test]
    fn waits_as_long_as_the_destination_asks() {
        let mut circuit = Circuit::default();
        let (began, seconds) = (Moment::default(), Duration::from_secs);

        assert!(circuit.throttle(began, seconds(3)));
        assert!(!circuit.throttle(began, seconds(1)), "it waits already");
        assert!(!circuit.lets_through(began + seconds(2)));
        assert!(circuit.lets_through(began + seconds(3)));
        assert!(circuit.throttle(began + seconds(3), seconds(1)));
    }
}
