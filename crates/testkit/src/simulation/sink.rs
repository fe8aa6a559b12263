//! The destinations of a simulated world: they record what they receive, and fail as the world wants.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use fastrand::Rng;
use posthaste_core::{Delivery, Entry, EventId, Fault, RelayId, Timestamp};

use crate::history::Received;

/// One destination.
#[derive(Debug, Default)]
pub(super) struct SimSink {
    /// It is down: nothing is accepted, and pings fail.
    pub(super) down: bool,
    /// How often it went down.
    pub(super) outages: u32,
    /// A ping answers well although nothing is accepted.
    pub(super) ping_lies: bool,
    /// Everything it received, in order.
    pub(super) received: Vec<Received>,
    /// How often it received something and did not say so: each is a repeat to come.
    pub(super) unsure: u64,
    /// How each event that fails does so.
    pub(super) ills: HashMap<EventId, Ill>,
    /// How often each event failed by its own fault.
    pub(super) own_failures: BTreeMap<EventId, u32>,
}

/// How an event fails.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ill {
    /// The first deliveries fail.
    Transient(u32),
    /// Every delivery is refused.
    Permanent,
    /// It is accepted, but the sink says it does not know.
    Unsure(u32),
    /// The sink says that it is down whenever it gets this one, while it takes others.
    Unavailable(u32),
    /// The sink asks to wait.
    Throttled(u32),
}

impl SimSink {
    pub(super) fn ping(&self) -> Result<(), Fault> {
        if self.down && !self.ping_lies { Err(Fault::unavailable("down")) } else { Ok(()) }
    }

    /// Delivers one entry that nothing of its key has failed before in this batch.
    pub(super) fn take(&mut self, entry: &Entry, at: Timestamp, relay: &RelayId) -> Delivery {
        if self.down {
            return Delivery::Failed(Fault::unavailable("down"));
        }
        let id = entry.event.id;
        let received = Received { id, relay: Some(relay.clone()), at };
        let fault = match self.ills.get_mut(&id) {
            Some(Ill::Permanent) => Some(Fault::permanent("never")),
            Some(Ill::Transient(left)) if *left > 0 => {
                *left -= 1;
                Some(Fault::transient("not now"))
            }
            Some(Ill::Unsure(left)) if *left > 0 => {
                *left -= 1;
                self.received.push(received.clone());
                self.unsure += 1;
                Some(Fault::timeout("no answer"))
            }
            Some(Ill::Unavailable(left)) if *left > 0 => {
                *left -= 1;
                Some(Fault::unavailable("not this one"))
            }
            Some(Ill::Throttled(left)) if *left > 0 => {
                *left -= 1;
                return Delivery::Failed(Fault::throttled(Duration::from_secs(2), "slowly"));
            }
            _ => None,
        };
        match fault {
            Some(fault) => {
                *self.own_failures.entry(id).or_default() += 1;
                Delivery::Failed(fault)
            }
            None => {
                self.received.push(received);
                Delivery::Delivered
            }
        }
    }
}

impl Ill {
    pub(super) fn draw(rng: &mut Rng) -> Option<Self> {
        match rng.u8(..60) {
            0..=5 => Some(Ill::Transient(rng.u32(1..=7))),
            6..=7 => Some(Ill::Permanent),
            8..=9 => Some(Ill::Unsure(rng.u32(1..=2))),
            10 => Some(Ill::Unavailable(rng.u32(1..=3))),
            11 => Some(Ill::Throttled(1)),
            _ => None,
        }
    }
}
