//! The suite that every log has to pass.

use posthaste_core::{Admin, Clock, Event, Log, Published, Result};
use posthaste_postgres::PgTransaction;
use posthaste_testkit::{
    ManualClock,
    conformance::{Damage, Subject},
};
use sqlx::AssertSqlSafe;

use crate::fixture::Fixture;

async fn fresh() -> Fixture {
    Fixture::reused().await
}

impl Subject for Fixture {
    type Tx = PgTransaction<'static>;

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
        posthaste_postgres::begin(self.log.pool()).await.unwrap()
    }

    async fn append(&self, tx: &mut Self::Tx, events: &[Event]) -> Result<Vec<Published>> {
        posthaste_postgres::publish(&mut **tx, self.log.place(), events).await
    }

    /// A transaction does not know the suite's clock: when an event was written is a default of the table.
    async fn commit(&self, mut tx: Self::Tx) {
        let dated = format!(
            r#"update "{}".outbox set created_at = timestamptz 'epoch' + $1 * interval '1 microsecond'
               where created_at > timestamptz 'epoch' + ($1 + 86400000000) * interval '1 microsecond'"#,
            self.schema.name
        );
        sqlx::query(AssertSqlSafe(dated)).bind(self.clock.now().0).execute(&mut *tx).await.unwrap();
        tx.commit().await.unwrap();
        self.log.ring();
    }

    async fn rollback(&self, tx: Self::Tx) {
        tx.rollback().await.unwrap();
    }

    async fn damage(&self, damage: Damage) {
        let query = match damage {
            Damage::LoseLines { subscription, lane } => {
                sqlx::query("delete from outbox_lines where subscription = $1 and lane = $2")
                    .bind(subscription)
                    .bind(i16::from(lane.0))
            }
            Damage::GarbleHeaders(position) => {
                sqlx::query("update outbox set headers = '[1]' where position = $1").bind(position.0)
            }
            Damage::GarblePayload(position) => {
                sqlx::query("update outbox set payload = '{' where position = $1").bind(position.0)
            }
            // Not of what is there; the schema's next user gets it without.
            Damage::RefuseDead => {
                sqlx::query("alter table outbox_dead add constraint refused check (false) not valid")
            }
        };
        query.execute(&mut self.connect().await).await.unwrap();
    }
}

posthaste_testkit::log_conformance!(fresh);
