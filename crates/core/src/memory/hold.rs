//! Leases of relays, and how the lanes stand.

use super::{MemoryStore, RelayRow, SubscriptionRow};
use crate::{
    Census, Error, ErrorKind, Hold, Lane, LaneCensus, LaneSet, Lease, RelayId, Result, SubscriptionCensus,
    Timestamp,
};

impl MemoryStore {
    /// Enrols the relay or renews its lease, removes relays whose lease is over, and tells how the lanes stand.
    pub fn hold(&mut self, now: Timestamp, lease: &Lease) -> Result<Hold> {
        if !lease.first && !self.relays.contains_key(&lease.relay) {
            return Ok(Hold::Lost);
        }
        // Before anything changes, as in a transaction that fails.
        self.check_lanes(lease)?;
        let row = RelayRow {
            host: lease.host.clone(),
            version: lease.version.clone(),
            subscriptions: lease.subscriptions.clone(),
            started_at: self.relays.get(&lease.relay).map_or(now, |row| row.started_at),
            held_until: now + lease.time,
        };
        self.relays.insert(lease.relay.clone(), row);
        self.relays.retain(|relay, row| *relay == lease.relay || row.held_until >= now);
        let known = lease.subscriptions.iter().filter_map(|name| self.subscriptions.get_key_value(name));
        let subscriptions: Vec<_> = known.map(|(name, row)| self.census(name, row)).collect();
        let alone = self.relays.len() == 1 && !subscriptions.is_empty();
        Ok(Hold::Alive(Census { subscriptions, alone }))
    }

    /// Removes the relay's row.
    pub fn leave(&mut self, relay: &RelayId) {
        self.relays.remove(relay);
    }

    /// All lanes of the subscription with something parked or held dead.
    pub(super) fn troubled(&self, name: &str) -> LaneSet {
        let held = self.dead.held_lanes(name);
        let parked = self.subscriptions.get(name).map_or(LaneSet::EMPTY, |row| row.parked.lanes());
        held.iter().chain(parked.iter()).collect()
    }

    fn check_lanes(&self, lease: &Lease) -> Result<()> {
        for name in &lease.subscriptions {
            let Some(row) = self.subscriptions.get(name) else { continue };
            if let Some(lane) = row.chains.iter().position(|chain| chain.last().is_none()) {
                let message = format!("lane {lane} of subscription {name:?} has no line; the log is damaged");
                return Err(Error::new(ErrorKind::Schema, message));
            }
        }
        Ok(())
    }

    fn census(&self, name: &str, row: &SubscriptionRow) -> SubscriptionCensus {
        let troubled = self.troubled(name);
        let serving =
            self.relays.values().filter(|relay| relay.subscriptions.iter().any(|served| served == name));
        let lanes = (0..self.lanes).map(Lane).zip(&row.chains).filter_map(|(lane, chain)| {
            let line = chain.last()?;
            let holder =
                line.relay.as_ref().filter(|relay| line.kind.holds() && self.relays.contains_key(relay));
            Some(LaneCensus {
                lane,
                n: line.n,
                cursor: line.cursor.clone(),
                seen: line.cursor.after,
                holder: holder.cloned(),
                troubled: troubled.contains(lane),
            })
        });
        SubscriptionCensus {
            name: name.to_owned(),
            generation: row.generation,
            paused: row.paused,
            relays: u32::try_from(serving.count()).unwrap_or(u32::MAX),
            lanes: lanes.collect(),
        }
    }
}
