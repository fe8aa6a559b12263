//! One life of a simulated relay: its machines, its lease, and its own clock.

use std::time::Duration;

use posthaste_core::{Hold, Lease, RelayId, Subscription};
use posthaste_relay::{Moment, Settings, machine::Machine};

/// One life of one relay.
#[derive(Debug)]
pub(super) struct SimRelay {
    pub(super) life: u64,
    /// When it began: its own clock counts from there.
    pub(super) began: Duration,
    pub(super) machines: Vec<Machine>,
    pub(super) settings: Settings,
    /// Under which id it holds lanes.
    pub(super) id: RelayId,
    /// How many ids it has had.
    ids: u32,
    enrolled: bool,
    /// A renewal is on its way.
    pub(super) renewing: bool,
    next_renewal: Moment,
    /// It does nothing until then, as if stopped by a signal.
    pub(super) frozen_until: Duration,
    pub(super) stopping: bool,
}

impl SimRelay {
    pub(super) fn start(
        life: u64,
        now: Duration,
        subscriptions: &[(Subscription, i64)],
        settings: &Settings,
    ) -> Self {
        let machine = |(index, (subscription, generation)): (usize, &(Subscription, i64))| {
            let seed = life * 31 + index as u64;
            let machine = Machine::new(subscription.clone(), *generation, settings.clone(), seed);
            if life % 4 == 3 { machine.with_one_entry_a_key() } else { machine }
        };
        Self {
            life,
            began: now,
            machines: subscriptions.iter().enumerate().map(machine).collect(),
            settings: settings.clone(),
            id: RelayId(format!("r{life}-0")),
            ids: 0,
            enrolled: false,
            renewing: false,
            next_renewal: Moment::default(),
            frozen_until: Duration::ZERO,
            stopping: false,
        }
    }

    pub(super) fn moment(&self, now: Duration) -> Moment {
        Moment::after(now.saturating_sub(self.began))
    }

    pub(super) fn is_frozen(&self, now: Duration) -> bool {
        now < self.frozen_until
    }

    /// The lease to ask for now, if it is time.
    pub(super) fn next_lease(&mut self, now: Duration, names: &[String]) -> Option<Lease> {
        if self.renewing || self.moment(now) < self.next_renewal {
            return None;
        }
        self.renewing = true;
        Some(Lease {
            relay: self.id.clone(),
            host: "sim".to_owned(),
            version: "0".to_owned(),
            subscriptions: names.to_vec(),
            time: self.settings.lease,
            first: !self.enrolled,
        })
    }

    pub(super) fn renew_now(&mut self) {
        self.next_renewal = Moment::default();
    }

    /// The answer to a renewal; `None` if there was none.
    pub(super) fn take_hold(&mut self, now: Duration, hold: Option<Hold>, asked: Moment) {
        self.renewing = false;
        let moment = self.moment(now);
        match hold {
            None => self.next_renewal = moment + Duration::from_secs(1),
            Some(Hold::Lost) => {
                self.ids += 1;
                self.id = RelayId(format!("r{}-{}", self.life, self.ids));
                self.enrolled = false;
                self.next_renewal = moment;
                for machine in &mut self.machines {
                    machine.lost();
                }
            }
            Some(Hold::Alive(census)) => {
                self.enrolled = true;
                self.next_renewal = moment + self.settings.lease / 3;
                let deadline = asked + self.settings.sending_time();
                for (machine, census) in self.machines.iter_mut().zip(&census.subscriptions) {
                    machine.census(moment, &self.id, census, deadline);
                }
            }
        }
    }

    pub(super) fn stop(&mut self) {
        self.stopping = true;
        for machine in &mut self.machines {
            machine.stop();
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopping && self.machines.iter().all(Machine::is_stopped)
    }
}
