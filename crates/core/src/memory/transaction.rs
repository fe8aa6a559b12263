//! A transaction on the log in memory, so that tests of an application need no database.

use futures_util::lock::OwnedMutexGuard;

use super::{MemoryLog, publish::Staging};
use crate::{Event, Published, Result};

/// An open transaction. Nobody sees what it adds before [`commit`](Self::commit); dropping it rolls it back.
#[must_use = "a transaction that is dropped is rolled back"]
pub struct MemoryTransaction {
    log: MemoryLog,
    staging: Staging,
    /// Other writers wait until this one has ended.
    _writer: OwnedMutexGuard<()>,
}

impl MemoryTransaction {
    pub(super) fn new(log: MemoryLog, writer: OwnedMutexGuard<()>) -> Self {
        Self { log, staging: Staging::default(), _writer: writer }
    }

    /// Adds events; one answer an event, in order.
    pub fn append(&mut self, events: &[Event]) -> Result<Vec<Published>> {
        let now = self.log.now();
        let Self { log, staging, .. } = self;
        log.with_store(|store| events.iter().map(|event| store.stage(staging, now, event.clone())).collect())
    }

    /// Makes everything that was added visible at once, and rings the doorbell.
    pub async fn commit(self) -> Result<()> {
        let news = !self.staging.is_empty();
        self.log.with_store(|store| store.commit(self.staging))?;
        if news {
            self.log.ring();
        }
        Ok(())
    }

    /// Undoes everything that was added, as dropping does.
    pub async fn rollback(self) {}
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::{FutureExt, StreamExt};

    use super::*;
    use crate::{EventId, EventRules, Log, Position, Stamp, SystemClock, Timestamp};

    fn event(number: u8) -> Event {
        let stamp = Stamp { id: EventId::from_bytes([number; 16]), now: Timestamp(0) };
        Event::of("tested").json(&number).unwrap().build(&EventRules::default(), stamp).unwrap()
    }

    fn now<T>(future: impl Future<Output = T>) -> T {
        future.now_or_never().expect("nothing waits in here")
    }

    #[test]
    fn what_is_dropped_was_never_there_and_a_commit_rings() {
        let log = MemoryLog::new(4, Arc::new(SystemClock));
        let mut bell = log.doorbell();

        let mut dropped = now(log.begin());
        dropped.append(&[event(1)]).unwrap();
        drop(dropped);
        assert_eq!(bell.next().now_or_never(), None);

        let mut kept = now(log.begin());
        let published = kept.append(&[event(2)]).unwrap();
        now(kept.commit()).unwrap();
        assert_eq!(bell.next().now_or_never(), Some(Some(())));
        assert_eq!(published[0].spot.unwrap().position, Position(1));
        assert!(log.with_store(|store| store.show(Timestamp(0), event(1).id).is_err()));
    }

    #[test]
    fn writers_wait_for_each_other() {
        let log = MemoryLog::new(4, Arc::new(SystemClock));
        let open = now(log.begin());

        assert!(log.begin().now_or_never().is_none());
        drop(open);
        assert!(log.begin().now_or_never().is_some());
    }
}
