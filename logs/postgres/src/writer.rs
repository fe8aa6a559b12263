//! Publishing inside a transaction of the application's, through whatever driver it has.

use std::collections::{HashMap, HashSet};

use posthaste_core::{Event, EventId, Lane, Position, Published, Result, Spot, Unpublished, driver::refuse};
use serde::de::DeserializeOwned;
use sqlx::{
    Arguments, AssertSqlSafe, PgConnection, Row, SqlSafeStr, SqlStr,
    postgres::{PgArguments, PgQueryResult, PgRow},
};

use crate::{
    error::{damaged, failed},
    record::{Record, check, json},
    statements::{Bound, Place, Statements},
};

/// A connection of the application's with a transaction open. That is all a driver has to do for publishing.
pub trait Caller: Send {
    /// Runs a statement whose parameters are texts or nulls, each mentioned once and in order, and answers the text in its one row and
    /// column.
    fn ask(&mut self, sql: &str, arguments: &[Option<&str>]) -> impl Future<Output = Result<String>> + Send;

    /// The same for a statement that answers nothing; how many rows it wrote.
    fn tell(&mut self, sql: &str, arguments: &[Option<&str>]) -> impl Future<Output = Result<u64>> + Send;

    /// Runs a statement without parameters and answers.
    fn run(&mut self, sql: &str) -> impl Future<Output = Result<()>> + Send;
}

impl Caller for PgConnection {
    async fn ask(&mut self, sql: &str, arguments: &[Option<&str>]) -> Result<String> {
        text_of(bound(sql, arguments)?.fetch_one(self).await)
    }

    async fn tell(&mut self, sql: &str, arguments: &[Option<&str>]) -> Result<u64> {
        rows_of(bound(sql, arguments)?.execute(self).await)
    }

    async fn run(&mut self, sql: &str) -> Result<()> {
        sqlx::raw_sql(safe(sql)).execute(self).await.map_err(failed("publish"))?;
        Ok(())
    }
}

/// A connection through a pooler in transaction mode, such as PgBouncer, where no statement can be kept ready: the next transaction may meet
/// another session of the server.
pub struct Pooled<'c>(pub &'c mut PgConnection);

impl Caller for Pooled<'_> {
    async fn ask(&mut self, sql: &str, arguments: &[Option<&str>]) -> Result<String> {
        text_of(bound(sql, arguments)?.persistent(false).fetch_one(&mut *self.0).await)
    }

    async fn tell(&mut self, sql: &str, arguments: &[Option<&str>]) -> Result<u64> {
        rows_of(bound(sql, arguments)?.persistent(false).execute(&mut *self.0).await)
    }

    async fn run(&mut self, sql: &str) -> Result<()> {
        self.0.run(sql).await
    }
}

fn bound<'a>(sql: &str, texts: &[Option<&'a str>]) -> Result<Bound<'a>> {
    let mut arguments = PgArguments::default();
    // Room for all at once: an event is nineteen of them.
    arguments
        .reserve(texts.len(), texts.iter().map(|text| text.map_or(0, str::len) + size_of::<i32>()).sum());
    for text in texts {
        arguments.add(*text).map_err(sqlx::Error::Encode).map_err(failed("publish"))?;
    }
    Ok(sqlx::query_with(safe(sql), arguments))
}

fn text_of(asked: sqlx::Result<PgRow>) -> Result<String> {
    asked.and_then(|row| row.try_get(0)).map_err(failed("publish"))
}

fn rows_of(told: sqlx::Result<PgQueryResult>) -> Result<u64> {
    told.map(|done| done.rows_affected()).map_err(failed("publish"))
}

/// The callers of [`Caller`] are in this file, and take their statements from [`Statements`].
fn safe(sql: &str) -> SqlStr {
    AssertSqlSafe(sql.to_owned()).into_sql_str()
}

/// Adds the events to the log at this place, in the transaction that the caller has open; one answer an event, in order.
///
/// A duplicate (same topic and idempotency key) is answered with the first event's id. After an error nothing of the call is in the
/// transaction, which stays usable unless the database itself refused a statement.
pub async fn publish<'e>(
    caller: &mut impl Caller,
    place: &Place,
    events: impl Into<Unpublished<'e>>,
) -> Result<Vec<Published>> {
    let Unpublished { events, fresh, spots } = events.into();
    events.iter().try_for_each(check)?;
    let statements = Statements::of(place);
    let mut publishing = Publishing { caller, statements: &statements };
    // A single insert is all or nothing by itself. More than that is so by a savepoint: an error must not leave half of it in a
    // transaction that its owner may still commit.
    if let [event] = events
        && !event.draw_version
    {
        return match fresh && event.idempotency_key.is_none() {
            true => publishing.insert(event, spots).await.map(|published| vec![published]),
            false => publishing.run(events).await.map(|tried| tried.published),
        };
    }
    loop {
        if let Some(published) = publishing.run_in_savepoint(events).await? {
            return Ok(published);
        }
    }
}

/// The ids of the events at these positions, as the caller's transaction sees them.
pub async fn find(caller: &mut impl Caller, place: &Place, positions: &[Position]) -> Result<Vec<EventId>> {
    let positions: Vec<i64> = positions.iter().map(|position| position.0).collect();
    let answer = caller.ask(Statements::of(place).find_ids.as_str(), &[Some(&json(&positions))]).await?;
    let ids: Vec<String> = parse(&answer)?;
    ids.iter().map(|id| id.parse()).collect()
}

struct Publishing<'a, C> {
    caller: &'a mut C,
    statements: &'a Statements,
}

/// The aggregate whose numbers are drawn.
type Aggregate = (String, String);

/// The first events with these topics and idempotency keys.
type Firsts = HashMap<(String, String), Published>;

/// What came of publishing.
struct Tried {
    published: Vec<Published>,
    /// A number was drawn for an event that another transaction had published meanwhile, and would be missing from its aggregate.
    wasteful: bool,
}

impl<C: Caller> Publishing<'_, C> {
    /// One event that cannot be a duplicate.
    async fn insert(&mut self, event: &Event, spots: bool) -> Result<Published> {
        let record = Record::new(event, event.version);
        let texts = record.texts();
        let texts: Vec<Option<&str>> = texts.iter().map(Option::as_deref).collect();
        let spot = match spots {
            true => Some(self.insert_and_ask(&texts).await?),
            false => self.insert_and_go_on(&texts).await.map(|()| None)?,
        };
        Ok(Published { id: event.id, spot, version: event.version, duplicate: false })
    }

    async fn insert_and_ask(&mut self, texts: &[Option<&str>]) -> Result<Spot> {
        let answer = self.caller.ask(self.statements.publish_one_and_ask.as_str(), texts).await?;
        let spot: i64 = parse(&answer)?;
        Ok(Spot { position: Position(spot >> 8), lane: Lane((spot & 0xff) as u8) })
    }

    async fn insert_and_go_on(&mut self, texts: &[Option<&str>]) -> Result<()> {
        match self.caller.tell(self.statements.publish_one.as_str(), texts).await? {
            1 => Ok(()),
            _ => {
                Err(damaged("publish: the event was not written; is there a trigger or a rule on its table?"))
            }
        }
    }

    /// All of it, or nothing; nothing also if a number was wasted, and the next try will know of that event.
    async fn run_in_savepoint(&mut self, events: &[Event]) -> Result<Option<Vec<Published>>> {
        const TAKE_BACK: &str = "rollback to savepoint posthaste; release savepoint posthaste";
        self.caller.run("savepoint posthaste").await?;
        match self.run(events).await {
            Ok(tried) if tried.wasteful => {
                self.caller.run(TAKE_BACK).await?;
                Ok(None)
            }
            Ok(tried) => {
                self.caller.run("release savepoint posthaste").await?;
                Ok(Some(tried.published))
            }
            Err(error) => {
                // If this fails too, the first error still says more.
                let _ = self.caller.run(TAKE_BACK).await;
                Err(error)
            }
        }
    }

    async fn run(&mut self, events: &[Event]) -> Result<Tried> {
        let versions = self.versions(events).await?;
        let records: Vec<Record<'_>> =
            events.iter().zip(&versions).map(|(event, version)| Record::new(event, *version)).collect();
        let answer = self.caller.ask(self.statements.publish.as_str(), &[Some(&json(&records))]).await?;
        let added: Vec<(String, i64, u8)> = parse(&answer)?;
        let mut added: HashMap<EventId, Spot> = added
            .into_iter()
            .map(|(id, position, lane)| Ok((id.parse()?, spot(position, lane))))
            .collect::<Result<_>>()?;
        let missing = events.iter().filter(|event| !added.contains_key(&event.id));
        let firsts = self.firsts(missing).await?;
        let mut published = Vec::with_capacity(events.len());
        let mut wasteful = false;
        for (event, version) in events.iter().zip(versions) {
            // Taken out, because a second event with the same id was not added.
            published.push(match added.remove(&event.id) {
                Some(spot) => Published { id: event.id, spot: Some(spot), version, duplicate: false },
                None => {
                    wasteful |= event.draw_version && version.is_some();
                    self.first_of(event, &firsts).await?
                }
            });
        }
        Ok(Tried { published, wasteful })
    }

    /// The event that was published before with this one's topic and idempotency key, maybe in this very call.
    async fn first_of(&mut self, event: &Event, firsts: &Firsts) -> Result<Published> {
        if let Some(first) = pair(event).and_then(|pair| firsts.get(&pair)) {
            return Ok(*first);
        }
        let firsts = self.firsts(std::iter::once(event)).await?;
        pair(event).and_then(|pair| firsts.get(&pair).copied()).ok_or_else(|| refuse::id_is_used(event.id))
    }

    async fn firsts(&mut self, events: impl Iterator<Item = &Event>) -> Result<Firsts> {
        let asked: HashSet<(String, String)> = events.filter_map(pair).collect();
        if asked.is_empty() {
            return Ok(Firsts::new());
        }
        let asked: Vec<_> = asked.into_iter().collect();
        let answer =
            self.caller.ask(self.statements.find_duplicates.as_str(), &[Some(&json(&asked))]).await?;
        let found: Vec<(String, String, String, i64, u8, Option<i64>)> = parse(&answer)?;
        found
            .into_iter()
            .map(|(topic, key, id, position, lane, version)| {
                let spot = Some(spot(position, lane));
                Ok(((topic, key), Published { id: id.parse()?, spot, version, duplicate: true }))
            })
            .collect()
    }

    /// The version of each event. Numbers are drawn for those that ask, but not for duplicates, which would leave gaps.
    async fn versions(&mut self, events: &[Event]) -> Result<Vec<Option<i64>>> {
        let mut versions: Vec<Option<i64>> = events.iter().map(|event| event.version).collect();
        if !events.iter().any(|event| event.draw_version) {
            return Ok(versions);
        }
        let firsts = self.firsts(events.iter().filter(|event| event.draw_version)).await?;
        let mut drawing: Vec<(usize, Aggregate)> = Vec::new();
        let mut seen = HashSet::new();
        for (index, event) in events.iter().enumerate() {
            let is_first = pair(event).is_none_or(|pair| !firsts.contains_key(&pair) && seen.insert(pair));
            if event.draw_version && is_first {
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
        let answer = self.caller.ask(self.statements.draw_versions.as_str(), &[Some(&json(&wanted))]).await?;
        let drawn: Vec<(String, String, i64)> = parse(&answer)?;
        let first = |(kind, id, last): (String, String, i64)| {
            let aggregate = (kind, id);
            let count = counts.get(&aggregate).copied().unwrap_or_default();
            (aggregate, last - count + 1)
        };
        Ok(drawn.into_iter().map(first).collect())
    }
}

fn spot(position: i64, lane: u8) -> Spot {
    Spot { position: Position(position), lane: Lane(lane) }
}

fn pair(event: &Event) -> Option<(String, String)> {
    event.idempotency_key.as_ref().map(|key| (event.topic.clone(), key.clone()))
}

fn parse<T: DeserializeOwned>(answer: &str) -> Result<T> {
    serde_json::from_str(answer)
        .map_err(|error| damaged("publish: the answer is not understood").with_source(error))
}

fn aggregate_of(event: &Event) -> Result<Aggregate> {
    let Some(id) = &event.aggregate_id else {
        return Err(refuse::no_aggregate(event.id));
    };
    Ok((event.aggregate_type.as_deref().unwrap_or_default().to_owned(), id.clone()))
}
