//! Moving a cursor and dropping a subscription: only while it is paused and nobody holds its lanes.

use posthaste_core::{Error, ErrorKind, ResetTo, Result, driver::refuse};

use sqlx::PgConnection;

use super::{
    act::Operator,
    is_paused,
    list::{extent, position_at},
};
use crate::{
    error::failed,
    log::Inner,
    row::get,
    subscribe::{lock, snapshot_of_now},
};

impl Operator<'_> {
    pub(super) async fn reset(&mut self, name: &str, to: ResetTo) -> Result<u64> {
        lock(self.log, self.connection).await?;
        self.check_idle(name).await?;
        // Before anything is written: see there.
        let (from, to, after) = match to {
            ResetTo::Beginning => (0, 0, 0),
            ResetTo::Now => {
                let (now, last) = snapshot_of_now(self.log, self.connection).await?;
                (now, now, last)
            }
            // Everything up to there that is committed; what commits later comes, wherever its place is.
            ResetTo::Position(_) | ResetTo::Time(_) => {
                let (now, _) = snapshot_of_now(self.log, self.connection).await?;
                (0, now, reset_after(self.log, self.connection, to).await?)
            }
        };
        let statements = &self.log.statements;
        let lines = self
            .log
            .query(&statements.reset_lines)
            .bind(name)
            .bind(from)
            .bind(to)
            .bind(after)
            .bind(self.log.now());
        let parked = self.log.query(&statements.reset_parked).bind(name);
        let dead = self.log.query(&statements.reset_dead).bind(name).bind(self.log.now()).bind(self.by);
        let lanes = self.run(lines, "reset").await?;
        if lanes != u64::from(self.log.layout.lanes) {
            let message = format!("a relay has just settled subscription {name:?}; try again");
            return Err(Error::new(ErrorKind::Refused, message));
        }
        self.run(parked, "reset").await?;
        self.run(dead, "reset").await?;
        let detail = format!("to position {}", after.saturating_add(1));
        self.journal(Some(name), "reset", lanes, Some(detail)).await?;
        Ok(lanes)
    }

    pub(super) async fn drop_subscription(&mut self, name: &str) -> Result<u64> {
        // Nobody waits long behind an operator who waits for somebody else.
        sqlx::raw_sql("set local lock_timeout = '2s'")
            .execute(&mut *self.connection)
            .await
            .map_err(failed("drop"))?;
        lock(self.log, self.connection).await?;
        self.check_idle(name).await?;
        let statements = &self.log.statements;
        self.run(self.log.query(&statements.lock_lines), "drop: wait until nobody adds lines").await?;
        let steps = [
            &statements.remember_numbers,
            &statements.drop_subscription,
            &statements.drop_lines,
            &statements.drop_parked,
        ];
        for sql in steps {
            self.run(self.log.query(sql).bind(name), "drop").await?;
        }
        self.journal(Some(name), "dropped", 1, None).await?;
        Ok(1)
    }

    /// Refuses, and says what to do first, while somebody could still deliver.
    async fn check_idle(&mut self, name: &str) -> Result<()> {
        if !is_paused(self.log, self.connection, name).await? {
            return Err(refuse::not_paused(name));
        }
        let rows = self
            .log
            .query(&self.log.statements.holders)
            .bind(name)
            .bind(self.log.now())
            .fetch_all(&mut *self.connection)
            .await
            .map_err(failed("find holders"))?;
        let holders: Vec<String> = rows.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
        if holders.is_empty() { Ok(()) } else { Err(refuse::held(name, &holders)) }
    }
}

/// Up to where a reset passes everything that is committed.
pub(super) async fn reset_after(log: &Inner, connection: &mut PgConnection, to: ResetTo) -> Result<i64> {
    match to {
        ResetTo::Beginning => Ok(0),
        ResetTo::Now => Ok(extent(log, connection).await?.last),
        ResetTo::Position(next) => Ok(next.0.saturating_sub(1).max(0)),
        ResetTo::Time(time) => {
            Ok(position_at(log, connection, time).await?.map_or(0, |next| next.saturating_sub(1)))
        }
    }
}
