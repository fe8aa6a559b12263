//! Publishing inside a transaction of the application's.

use std::collections::{HashMap, HashSet};

use posthaste_core::{Event, EventId, Lane, Position, Published, Result, Spot, driver::refuse};
use sqlx::{Connection, SqliteConnection, sqlite::SqliteRow};

use crate::{
    bind::{self, json},
    error::failed,
    row::{get, id_of, is_null},
    statements::Statements,
};

/// Adds the events to the log with this prefix, in the transaction that the connection has open.
pub(crate) async fn publish(
    connection: &mut SqliteConnection,
    prefix: &str,
    events: &[Event],
) -> Result<Vec<Published>> {
    let statements = Statements::of(prefix)?;
    // A single insert is all or nothing by itself. More than that is so by a savepoint: an error must not leave half of it
    // in a transaction that its owner may still commit.
    if let [event] = events
        && !event.draw_version
    {
        return Publishing { connection, statements: &statements }.run(events).await;
    }
    let mut savepoint = connection.begin().await.map_err(failed("publish"))?;
    let published = Publishing { connection: &mut savepoint, statements: &statements }.run(events).await?;
    savepoint.commit().await.map_err(failed("publish"))?;
    Ok(published)
}

/// The ids of the events at these positions, in the transaction that the connection has open.
pub(crate) async fn find(
    connection: &mut SqliteConnection,
    prefix: &str,
    positions: &[Position],
) -> Result<Vec<EventId>> {
    let positions: Vec<i64> = positions.iter().map(|position| position.0).collect();
    let rows = sqlx::query(Statements::of(prefix)?.find_ids.clone())
        .bind(json(&positions))
        .fetch_all(connection)
        .await
        .map_err(failed("find events"))?;
    let mut ids = Vec::with_capacity(rows.len());
    for row in &rows {
        if !is_null(row, 0)? {
            ids.push(id_of(row, 0)?);
        }
    }
    Ok(ids)
}

struct Publishing<'a> {
    connection: &'a mut SqliteConnection,
    statements: &'a Statements,
}

/// The aggregate whose numbers are drawn.
type Aggregate = (String, String);

impl Publishing<'_> {
    async fn run(&mut self, events: &[Event]) -> Result<Vec<Published>> {
        let versions = self.versions(events).await?;
        let numbered: Vec<(&Event, Option<i64>)> = events.iter().zip(versions).collect();
        let mut published = Vec::with_capacity(events.len());
        for (sql, chunk) in self.statements.publish.chunks(&numbered) {
            let query = chunk
                .iter()
                .fold(sqlx::query(sql), |query, (event, version)| bind::event(query, event, *version));
            let rows = query.fetch_all(&mut *self.connection).await.map_err(failed("publish"))?;
            let mut added = HashMap::with_capacity(rows.len());
            for row in &rows {
                added.insert(id_of(row, 2)?, Some(spot_of(row)?));
            }
            for (event, version) in chunk {
                // Taken out, because a second event with the same id in this chunk was not added.
                published.push(match added.remove(&event.id) {
                    Some(spot) => Published { id: event.id, spot, version: *version, duplicate: false },
                    None => self.first_of(event).await?.ok_or_else(|| refuse::id_is_used(event.id))?,
                });
            }
        }
        Ok(published)
    }

    /// The event that was published before with this one's topic and idempotency key.
    async fn first_of(&mut self, event: &Event) -> Result<Option<Published>> {
        let Some(key) = &event.idempotency_key else { return Ok(None) };
        let row = sqlx::query(self.statements.find_duplicate.clone())
            .bind(event.topic.as_str())
            .bind(key.as_str())
            .fetch_optional(&mut *self.connection)
            .await
            .map_err(failed("publish"))?;
        let Some(row) = row else { return Ok(None) };
        let published = Published {
            id: id_of(&row, 2)?,
            spot: Some(spot_of(&row)?),
            version: get(&row, 3)?,
            duplicate: true,
        };
        Ok(Some(published))
    }

    /// The version of each event. Numbers are drawn for those that ask, but not for duplicates, which would leave gaps.
    async fn versions(&mut self, events: &[Event]) -> Result<Vec<Option<i64>>> {
        let mut versions: Vec<Option<i64>> = events.iter().map(|event| event.version).collect();
        if !events.iter().any(|event| event.draw_version) {
            return Ok(versions);
        }
        let mut drawing: Vec<(usize, Aggregate)> = Vec::new();
        let mut seen = HashSet::new();
        for (index, event) in events.iter().enumerate() {
            let repeats =
                event.idempotency_key.as_deref().is_some_and(|key| !seen.insert((event.topic.as_str(), key)));
            if event.draw_version && !repeats && self.first_of(event).await?.is_none() {
                drawing.push((index, aggregate_of(event)?));
            }
        }
        let mut next = self.draw(&drawing).await?;
        for (index, aggregate) in drawing {
            if let Some(number) = next.get_mut(&aggregate) {
                versions[index] = Some(*number);
                *number += 1;
            }
        }
        Ok(versions)
    }

    /// Draws as many numbers as there are events of each aggregate, and answers the first of each.
    async fn draw(&mut self, drawing: &[(usize, Aggregate)]) -> Result<HashMap<Aggregate, i64>> {
        let mut counts: HashMap<&Aggregate, i64> = HashMap::new();
        for (_, aggregate) in drawing {
            *counts.entry(aggregate).or_default() += 1;
        }
        let wanted: Vec<_> = counts.iter().map(|((kind, id), count)| (kind, id, count)).collect();
        let rows = sqlx::query(self.statements.draw_versions.clone())
            .bind(json(&wanted))
            .fetch_all(&mut *self.connection)
            .await
            .map_err(failed("draw versions"))?;
        let mut first = HashMap::with_capacity(rows.len());
        for row in &rows {
            let aggregate: Aggregate = (get(row, 0)?, get(row, 1)?);
            let count = counts.get(&aggregate).copied().unwrap_or_default();
            let last: i64 = get(row, 2)?;
            first.insert(aggregate, last - count + 1);
        }
        Ok(first)
    }
}

fn aggregate_of(event: &Event) -> Result<Aggregate> {
    let Some(id) = &event.aggregate_id else {
        return Err(refuse::no_aggregate(event.id));
    };
    Ok((event.aggregate_type.as_deref().unwrap_or_default().to_owned(), id.clone()))
}

fn spot_of(row: &SqliteRow) -> Result<Spot> {
    Ok(Spot { position: Position(get(row, 0)?), lane: Lane(get(row, 1)?) })
}
