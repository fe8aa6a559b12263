//! What settlements change besides the cursor: rows that are parked, gone, or dead; one statement for all of a kind.

use posthaste_core::{Act, Buried, Change, Lane, Parked, Result};
use sqlx::{PgConnection, SqlStr};

use crate::{
    append::Writing,
    error::failed,
    record::{BuriedRecord, ParkedRecord, json},
};

/// The changes of all acts whose lines went in.
#[derive(Default)]
pub(crate) struct Changes<'a> {
    parked: Vec<(Lane, &'a Parked)>,
    gone: Vec<i64>,
    dead: Vec<(Lane, &'a Buried)>,
}

impl<'a> Changes<'a> {
    pub(crate) fn gather(&mut self, act: &'a Act) {
        for change in &act.changes {
            match change {
                Change::Park(parked) => self.parked.push((act.lane, parked)),
                Change::Unpark(position) => self.gone.push(position.0),
                Change::Bury(buried) => self.dead.push((act.lane, buried)),
            }
        }
    }
}

pub(crate) async fn apply(
    writing: Writing<'_>,
    connection: &mut PgConnection,
    changes: Changes<'_>,
) -> Result<()> {
    let statements = &writing.log.statements;
    if !changes.gone.is_empty() {
        let query = writing
            .log
            .query(&statements.unpark)
            .bind(writing.subscription)
            .bind(writing.log.now())
            .bind(writing.relay.0.as_str())
            .bind(changes.gone);
        query.execute(&mut *connection).await.map_err(failed("unpark"))?;
    }
    if !changes.parked.is_empty() {
        let rows: Vec<_> = changes.parked.iter().map(|(lane, row)| ParkedRecord::new(*lane, row)).collect();
        write(writing, connection, &statements.park, json(&rows)).await?;
    }
    if !changes.dead.is_empty() {
        let rows: Vec<_> = changes.dead.iter().map(|(lane, row)| BuriedRecord::new(*lane, row)).collect();
        write(writing, connection, &statements.bury, json(&rows)).await?;
    }
    Ok(())
}

async fn write(
    writing: Writing<'_>,
    connection: &mut PgConnection,
    sql: &SqlStr,
    rows: String,
) -> Result<()> {
    let query = writing
        .log
        .query(sql)
        .bind(writing.subscription)
        .bind(writing.log.now())
        .bind(writing.relay.0.as_str())
        .bind(rows);
    query.execute(connection).await.map_err(failed("settle what failed"))?;
    Ok(())
}
