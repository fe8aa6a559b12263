//! Moving a cursor and dropping a subscription: only while it is paused and nobody holds its lanes.

use std::collections::BTreeSet;

use super::{MemoryStore, SubscriptionRow, operate::Operator};
use crate::{Cursor, Position, RelayId, ResetTo, Result, Timestamp, driver::refuse};

impl MemoryStore {
    pub(super) fn reset(&mut self, operator: Operator<'_>, name: &str, to: ResetTo) -> Result<u64> {
        self.check_idle(operator.now, name)?;
        let after = self.reset_after(to);
        // The log will yield these again; left here they would go twice, or stop their key. What was pruned from it stays.
        let yields = |position: Position| position > after && self.log.get(position).is_some();
        let again: Vec<i64> =
            self.dead.unresolved(name).filter(|(_, row)| yields(row.position)).map(|(id, _)| id).collect();
        let unpark: Vec<Position> =
            self.parked_positions(name).filter(|position| yields(*position)).collect();
        for dead_id in again {
            self.dead.resolve(dead_id, operator.resolved("reset"), None);
        }
        if let Some(row) = self.subscriptions.get_mut(name) {
            for position in unpark {
                row.parked.remove(position);
            }
            for chain in &mut row.chains {
                chain.reset(Cursor::at(after), operator.now);
            }
        }
        let lanes = u64::from(self.lanes);
        let detail = format!("to position {}", after.0.saturating_add(1));
        self.journal.write(operator.audit(Some(name), "reset", lanes, Some(detail)));
        Ok(lanes)
    }

    pub(super) fn drop_subscription(&mut self, operator: Operator<'_>, name: &str) -> Result<u64> {
        self.check_idle(operator.now, name)?;
        if let Some(row) = self.subscriptions.remove(name) {
            let lines = row.chains.iter().filter_map(|chain| Some(chain.last()?.n));
            self.dropped.line = lines.fold(self.dropped.line, i64::max);
            self.dropped.generation = self.dropped.generation.max(row.generation);
        }
        self.journal.write(operator.audit(Some(name), "dropped", 1, None));
        Ok(1)
    }

    fn check_idle(&self, now: Timestamp, name: &str) -> Result<()> {
        let row = self.subscription(name)?;
        if !row.paused {
            return Err(refuse::not_paused(name));
        }
        let holders: BTreeSet<&String> = self.live_holders(row, now).map(|relay| &relay.0).collect();
        let holders: Vec<String> = holders.into_iter().cloned().collect();
        if holders.is_empty() { Ok(()) } else { Err(refuse::held(name, &holders)) }
    }

    /// The holder of each lane whose lease has not ended.
    pub(super) fn live_holders<'a>(
        &'a self,
        row: &'a SubscriptionRow,
        now: Timestamp,
    ) -> impl Iterator<Item = &'a RelayId> {
        let lines = row.chains.iter().filter_map(|chain| chain.last());
        let holders = lines.filter(|line| line.kind.holds()).filter_map(|line| line.relay.as_ref());
        holders.filter(move |relay| self.is_live(relay, now))
    }
}
