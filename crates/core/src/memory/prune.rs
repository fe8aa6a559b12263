//! Pruning: what is old, and settled by everybody, goes; a bounded step at a time.

use super::MemoryStore;
use crate::{Lane, Position, Pruned, Retention, Timestamp};

impl MemoryStore {
    /// Removes what is older than the retention and settled by every subscription.
    pub fn prune(&mut self, now: Timestamp, retention: &Retention) -> Pruned {
        let step = usize::try_from(retention.step).unwrap_or(usize::MAX);
        let events = self.settled_before(now.before(retention.events), step);
        for position in &events {
            self.log.remove(*position);
        }
        Pruned {
            events: count(events.len()),
            lines: self.prune_lines(now.before(retention.lines), step),
            journal: self.prune_journal(now.before(retention.journal), step)
                + count(self.jobs.prune(now.before(retention.journal), step)),
            dead: self.prune_dead(now.before(retention.dead), step),
        }
    }

    /// Old events that the last line of their lane has passed in every subscription, and that nobody has parked.
    fn settled_before(&self, before: Timestamp, step: usize) -> Vec<Position> {
        let old = |position: Position| self.log.get(position).is_some_and(|row| row.created_at < before);
        let parked = |position| self.subscriptions.values().any(|row| row.parked.get(position).is_some());
        let lanes = (0..self.lanes).map(Lane).filter_map(|lane| Some((lane, self.settled_by_all(lane)?)));
        lanes
            .flat_map(|(lane, settled)| self.log.of_lane_until(lane, settled).take_while(|at| old(*at)))
            .filter(|position| !parked(*position))
            .take(step)
            .collect()
    }

    /// How far every subscription has settled the lane; nothing if there is no subscription at all.
    fn settled_by_all(&self, lane: Lane) -> Option<Position> {
        let cursors = self.subscriptions.values().map(|row| row.chain(lane).cursor().after);
        cursors.min()
    }

    fn prune_lines(&mut self, before: Timestamp, step: usize) -> u64 {
        let mut pruned = 0;
        for chain in self.subscriptions.values_mut().flat_map(|row| &mut row.chains) {
            while pruned < step && chain.prune_one(before) {
                pruned += 1;
            }
        }
        count(pruned)
    }

    fn prune_journal(&mut self, before: Timestamp, step: usize) -> u64 {
        let mut pruned = 0;
        while pruned < step && self.journal.prune_one(before) {
            pruned += 1;
        }
        count(pruned)
    }

    /// While the log has the event its status is told by its dead letters.
    fn prune_dead(&mut self, before: Timestamp, step: usize) -> u64 {
        let log = &self.log;
        count(self.dead.prune(before, step, |position| log.get(position).is_none()))
    }
}

fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
