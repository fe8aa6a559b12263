//! The log in memory does what every log has to do.

use posthaste_core::{
    Admin, Event, Log, Published, Result,
    memory::{MemoryLog, MemoryTransaction},
};
use posthaste_testkit::{
    ManualClock,
    conformance::{Damage, Subject},
};

struct Memory {
    clock: ManualClock,
    log: MemoryLog,
}

async fn fresh() -> Memory {
    let clock = ManualClock::default();
    Memory { log: MemoryLog::new(8, clock.shared()), clock }
}

impl Subject for Memory {
    type Tx = MemoryTransaction;

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn log(&self) -> &dyn Log {
        &self.log
    }

    fn admin(&self) -> &dyn Admin {
        &self.log
    }

    async fn begin(&self) -> MemoryTransaction {
        self.log.begin().await
    }

    async fn append(&self, tx: &mut MemoryTransaction, events: &[Event]) -> Result<Vec<Published>> {
        tx.append(events)
    }

    async fn commit(&self, tx: MemoryTransaction) {
        tx.commit().await.expect("commit");
    }

    async fn rollback(&self, tx: MemoryTransaction) {
        tx.rollback().await;
    }

    async fn damage(&self, damage: Damage) {
        self.log.with_store(|store| match damage {
            Damage::LoseLines { subscription, lane } => store.lose_lines(&subscription, lane),
            Damage::GarbleHeaders(position) => store.garble(position, "headers are no object of texts"),
            Damage::GarblePayload(position) => store.garble(position, "payload is not JSON"),
            Damage::RefuseDead => store.refuse_dead(),
        });
    }
}

posthaste_testkit::log_conformance!(fresh);
