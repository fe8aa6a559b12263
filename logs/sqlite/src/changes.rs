//! What settlements change besides the cursor: rows that are parked, gone, or dead; a few statements for all of them.

use std::fmt::Write;

use posthaste_core::{
    Act, Buried, Change, DeadReason, Due, Lane, Parked, Position, Result, cut_error, error_line,
};
use sqlx::{SqlStr, SqliteConnection};

use crate::{
    append::{Writing, list},
    bind::{self, Bound},
    error::failed,
};

/// The changes of all acts whose lines went in.
#[derive(Default)]
pub(crate) struct Changes<'a> {
    parked: Vec<(Lane, &'a Parked)>,
    gone: Vec<Position>,
    dead: Vec<(Lane, &'a Buried)>,
}

impl<'a> Changes<'a> {
    pub(crate) fn gather(&mut self, act: &'a Act) {
        for change in &act.changes {
            match change {
                Change::Park(parked) => self.parked.push((act.lane, parked)),
                Change::Unpark(position) => self.gone.push(*position),
                Change::Bury(buried) => self.dead.push((act.lane, buried)),
            }
        }
    }
}

pub(crate) async fn apply(
    writing: Writing<'_>,
    connection: &mut SqliteConnection,
    changes: Changes<'_>,
) -> Result<()> {
    let mut changing = Changing { writing, connection };
    changing.unpark(changes.gone).await?;
    changing.park(changes.parked).await?;
    changing.bury(changes.dead).await
}

struct Changing<'a> {
    writing: Writing<'a>,
    connection: &'a mut SqliteConnection,
}

impl Changing<'_> {
    async fn unpark(&mut self, gone: Vec<Position>) -> Result<()> {
        if gone.is_empty() {
            return Ok(());
        }
        let positions = list(gone.iter(), |text, position| write!(text, "{position}"));
        self.journal(self.writing.log.statements.journal_delivered.clone(), positions.clone()).await?;
        self.remove(positions).await
    }

    async fn park(&mut self, rows: Vec<(Lane, &Parked)>) -> Result<()> {
        for (sql, chunk) in self.writing.log.statements.park.chunks(&rows) {
            let query =
                chunk.iter().fold(sqlx::query(sql), |query, row| bind_parked(query, self.writing, row));
            query.execute(&mut *self.connection).await.map_err(failed("park"))?;
        }
        let failures: Vec<&Parked> =
            rows.into_iter().map(|(_, parked)| parked).filter(|parked| parked.error.is_some()).collect();
        if failures.is_empty() {
            return Ok(());
        }
        let failures = list(failures.iter(), |text, parked| {
            write!(text, "[{},{}]", parked.position, parked.took.as_micros())
        });
        self.journal(self.writing.log.statements.journal_failed.clone(), failures).await
    }

    async fn bury(&mut self, rows: Vec<(Lane, &Buried)>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        for (sql, chunk) in self.writing.log.statements.bury.chunks(&rows) {
            let query =
                chunk.iter().fold(sqlx::query(sql), |query, row| bind_buried(query, self.writing, row));
            query.execute(&mut *self.connection).await.map_err(failed("bury"))?;
        }
        let poison = rows.iter().filter(|(_, buried)| buried.reason == DeadReason::PoisonMessage);
        let poison = poison.map(|(_, buried)| buried.position).collect();
        self.keep_as_stored(poison).await?;
        let dead = list(rows.iter(), |text, (_, buried)| {
            write!(text, "[{},{}]", buried.position, buried.took.as_micros())
        });
        self.journal(self.writing.log.statements.journal_dead.clone(), dead).await?;
        self.remove(list(rows.iter(), |text, (_, buried)| write!(text, "{}", buried.position))).await
    }

    /// What could not be understood was not read as it is, and a dead letter must not have less than the log.
    async fn keep_as_stored(&mut self, poison: Vec<Position>) -> Result<()> {
        if poison.is_empty() {
            return Ok(());
        }
        let query = sqlx::query(self.writing.log.statements.keep_as_stored.clone())
            .bind(self.writing.subscription)
            .bind(list(poison.iter(), |text, position| write!(text, "{position}")));
        query.execute(&mut *self.connection).await.map_err(failed("bury"))?;
        Ok(())
    }

    /// Takes rows out of what is parked.
    async fn remove(&mut self, positions: String) -> Result<()> {
        let query = sqlx::query(self.writing.log.statements.unpark.clone())
            .bind(self.writing.subscription)
            .bind(positions);
        query.execute(&mut *self.connection).await.map_err(failed("unpark"))?;
        Ok(())
    }

    async fn journal(&mut self, sql: SqlStr, rows: String) -> Result<()> {
        let query = sqlx::query(sql)
            .bind(self.writing.subscription)
            .bind(self.writing.relay.0.as_str())
            .bind(self.writing.now.0)
            .bind(rows);
        query.execute(&mut *self.connection).await.map_err(failed("write the journal"))?;
        Ok(())
    }
}

fn bind_parked<'q>(query: Bound<'q>, writing: Writing<'_>, (lane, parked): &(Lane, &Parked)) -> Bound<'q> {
    let (due_at, delayed) = match parked.due {
        Due::In(span) => (writing.now + span, false),
        Due::Delayed(time) => (time, true),
    };
    let attempted_at = parked.error.as_ref().map(|_| writing.now.0);
    let query = query
        .bind(writing.subscription)
        .bind(parked.position.0)
        .bind(lane.0)
        .bind(parked.attempts)
        .bind(due_at.0)
        .bind(delayed)
        .bind(parked.error.as_deref().map(cut_error))
        .bind(attempted_at)
        .bind(attempted_at);
    bind::event(query, &parked.event, parked.event.version)
}

fn bind_buried<'q>(query: Bound<'q>, writing: Writing<'_>, (lane, buried): &(Lane, &Buried)) -> Bound<'q> {
    let query = query
        .bind(writing.subscription)
        .bind(buried.position.0)
        .bind(lane.0)
        .bind(buried.reason.as_str())
        .bind(cut_error(&buried.error))
        .bind(error_line(&buried.error))
        .bind(buried.attempts)
        .bind(buried.holds)
        .bind(writing.now.0);
    bind::event(query, &buried.event, buried.event.version)
}
