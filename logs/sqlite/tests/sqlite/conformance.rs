//! The suite that every log has to pass.

use posthaste_core::{Admin, Clock, Event, Log, Published, Result};
use posthaste_sqlite::SqliteTransaction;
use posthaste_testkit::{
    ManualClock,
    conformance::{Damage, Subject},
};

use crate::fixture::{Fixture, REFUSE_DEAD};

async fn fresh() -> Fixture {
    Fixture::new().await
}

impl Subject for Fixture {
    type Tx = SqliteTransaction<'static>;

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn log(&self) -> &dyn Log {
        &self.log
    }

    fn admin(&self) -> &dyn Admin {
        &self.log
    }

    async fn begin(&self) -> Self::Tx {
        posthaste_sqlite::begin(self.log.pool()).await.unwrap()
    }

    async fn append(&self, tx: &mut Self::Tx, events: &[Event]) -> Result<Vec<Published>> {
        posthaste_sqlite::publish(tx, "outbox", events).await
    }

    /// A transaction does not know the suite's clock: when an event was written is a default of the table.
    async fn commit(&self, mut tx: Self::Tx) {
        let now = self.clock.now().0;
        let dated =
            sqlx::query("update outbox set created_at = ?1 where created_at > ?1 + 86400000000").bind(now);
        dated.execute(&mut *tx).await.unwrap();
        tx.commit().await.unwrap();
    }

    async fn rollback(&self, tx: Self::Tx) {
        tx.rollback().await.unwrap();
    }

    async fn damage(&self, damage: Damage) {
        let query = match damage {
            Damage::LoseLines { subscription, lane } => {
                sqlx::query("delete from outbox_lines where subscription = ?1 and lane = ?2")
                    .bind(subscription)
                    .bind(lane.0)
            }
            Damage::GarbleHeaders(position) => {
                sqlx::query("update outbox set headers = '[1]' where position = ?1").bind(position.0)
            }
            Damage::GarblePayload(position) => {
                sqlx::query("update outbox set payload = '{' where position = ?1").bind(position.0)
            }
            Damage::RefuseDead => sqlx::query(REFUSE_DEAD),
        };
        query.execute(self.log.pool()).await.unwrap();
    }
}

posthaste_testkit::log_conformance!(fresh);
