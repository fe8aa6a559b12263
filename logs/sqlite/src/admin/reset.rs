//! Moving a cursor and dropping a subscription: only while it is paused and nobody holds its lanes.

use posthaste_core::{ResetTo, Result, driver::refuse};

use sqlx::SqliteConnection;

use super::{act::Operator, is_paused, list::position_at};
use crate::{error::failed, log::Inner, row::get, subscribe::last_position};

impl Operator<'_> {
    pub(super) async fn reset(&mut self, name: &str, to: ResetTo) -> Result<u64> {
        self.check_idle(name).await?;
        let after = reset_after(self.log, self.connection, to).await?;
        let statements = &self.log.statements;
        let lines = sqlx::query(statements.reset_lines.clone())
            .bind(name)
            .bind(after)
            .bind(self.now.0)
            .bind(self.log.lanes());
        let parked = sqlx::query(statements.reset_parked.clone()).bind(name).bind(after);
        let dead =
            sqlx::query(statements.reset_dead.clone()).bind(name).bind(after).bind(self.now.0).bind(self.by);
        let lanes = self.run(lines, "reset").await?;
        self.run(parked, "reset").await?;
        self.run(dead, "reset").await?;
        let detail = format!("to position {}", after.saturating_add(1));
        self.journal(Some(name), "reset", lanes, Some(detail)).await?;
        Ok(lanes)
    }

    pub(super) async fn drop_subscription(&mut self, name: &str) -> Result<u64> {
        self.check_idle(name).await?;
        let statements = &self.log.statements;
        let steps = [
            &statements.remember_numbers,
            &statements.drop_subscription,
            &statements.drop_lines,
            &statements.drop_parked,
        ];
        for sql in steps {
            self.run(sqlx::query(sql.clone()).bind(name), "drop").await?;
        }
        self.journal(Some(name), "dropped", 1, None).await?;
        Ok(1)
    }

    /// Refuses, and says what to do first, while somebody could still deliver.
    async fn check_idle(&mut self, name: &str) -> Result<()> {
        if !is_paused(self.log, self.connection, name).await? {
            return Err(refuse::not_paused(name));
        }
        let rows = sqlx::query(self.log.statements.holders.clone())
            .bind(name)
            .bind(self.now.0)
            .bind(self.log.lanes())
            .fetch_all(&mut *self.connection)
            .await
            .map_err(failed("find holders"))?;
        let holders: Vec<String> = rows.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
        if holders.is_empty() { Ok(()) } else { Err(refuse::held(name, &holders)) }
    }
}

/// The cursor that a reset sets.
pub(super) async fn reset_after(log: &Inner, connection: &mut SqliteConnection, to: ResetTo) -> Result<i64> {
    match to {
        ResetTo::Beginning => Ok(0),
        ResetTo::Now => last_position(log, connection).await,
        ResetTo::Position(next) => Ok(next.0.saturating_sub(1).max(0)),
        ResetTo::Time(time) => match position_at(log, connection, time).await? {
            Some(next) => Ok(next.saturating_sub(1)),
            None => last_position(log, connection).await,
        },
    }
}
