//! Appending lines, each with all its changes or not at all.

use std::fmt::Write;

use posthaste_core::{
    Act, Appended, Change, Lane, LaneSet, RelayId, Result, Timestamp,
    driver::{Round, rounds},
};
use sqlx::SqliteConnection;

use crate::{
    bind::Bound,
    changes::{self, Changes},
    error::{failed, is_busy},
    log::Inner,
    row::get,
    slot::Taken,
};

pub(crate) async fn append(
    log: &Inner,
    subscription: &str,
    relay: &RelayId,
    acts: &[Act],
) -> Result<Vec<Appended>> {
    if acts.is_empty() {
        return Ok(Vec::new());
    }
    let mut connection = log.append.take().await?;
    let writing = Writing { log, subscription, relay, now: log.now() };
    let mut answers = vec![Appended::Fenced; acts.len()];
    let rounds = rounds(acts);
    if !writing.add_at_once(&mut connection, &rounds, &mut answers).await? {
        writing.add_all(&mut connection, rounds, &mut answers).await?;
    }
    connection.put_back();
    Ok(answers)
}

/// Who writes, where and when.
#[derive(Clone, Copy)]
pub(crate) struct Writing<'a> {
    pub(crate) log: &'a Inner,
    pub(crate) subscription: &'a str,
    pub(crate) relay: &'a RelayId,
    pub(crate) now: Timestamp,
}

impl Writing<'_> {
    /// The good case: one insert, which is a transaction by itself. Answers whether it was that: there may be more to do, or
    /// somebody else may be writing just now.
    async fn add_at_once(
        &self,
        connection: &mut SqliteConnection,
        rounds: &[Round<'_>],
        answers: &mut [Appended],
    ) -> Result<bool> {
        let [round] = rounds else { return Ok(false) };
        if !round.acts().all(|act| act.changes.is_empty()) {
            return Ok(false);
        }
        let added = match self.insert(connection, round).await {
            Err(error) if is_busy(&error) => return Ok(false),
            added => added.map_err(failed("append lines"))?,
        };
        round.answer(self.lanes_with_lines(connection, round, added).await?, answers);
        Ok(true)
    }

    /// Everything, in one transaction that waits for its turn.
    async fn add_all(
        self,
        connection: &mut Taken<'_>,
        rounds: Vec<Round<'_>>,
        answers: &mut [Appended],
    ) -> Result<()> {
        let mut tx = connection.begin_immediate().await?;
        // Asked for only now: other writers may have been waited for, and due times count from here.
        let writing = Writing { now: self.log.now(), ..self };
        let mut lost = LaneSet::EMPTY;
        for round in rounds {
            // Who has lost a lane does nothing more to it.
            let round = round.without(lost);
            let done = writing.add_with_changes(&mut tx, &round).await?;
            round.answer(done, answers);
            round.without(done).lanes().for_each(|lane| lost.insert(lane));
        }
        tx.commit().await
    }

    /// Adds the lines, and answers the lanes that have them now, whether from this time or from one whose answer was lost.
    async fn add(&self, connection: &mut SqliteConnection, round: &Round<'_>) -> Result<LaneSet> {
        if round.acts().len() == 0 {
            return Ok(LaneSet::EMPTY);
        }
        let added = self.insert(connection, round).await.map_err(failed("append lines"))?;
        self.lanes_with_lines(connection, round, added).await
    }

    /// Answers how many lines went in.
    async fn insert(&self, connection: &mut SqliteConnection, round: &Round<'_>) -> sqlx::Result<u64> {
        let (sql, room) = self.log.statements.append_lines.with_room_for(round.acts().len());
        let query = sqlx::query(sql).bind(self.subscription).bind(self.relay.0.as_str()).bind(self.now.0);
        let query = round.acts().fold(query, bind_act);
        let query = (round.acts().len()..room).fold(query, |query, _| bind_nothing(query));
        Ok(query.execute(connection).await?.rows_affected())
    }

    async fn lanes_with_lines(
        &self,
        connection: &mut SqliteConnection,
        round: &Round<'_>,
        added: u64,
    ) -> Result<LaneSet> {
        if usize::try_from(added) == Ok(round.acts().len()) {
            return Ok(round.lanes().collect());
        }
        self.find(connection, round).await
    }

    /// Adds the lines with their changes. What had been added before is done too, and changes nothing a second time.
    async fn add_with_changes(
        &self,
        connection: &mut SqliteConnection,
        round: &Round<'_>,
    ) -> Result<LaneSet> {
        let repeated = self.find(connection, round).await?;
        let fresh = round.without(repeated);
        let added = self.add(connection, &fresh).await?;
        let mut changes = Changes::default();
        for act in fresh.acts().filter(|act| added.contains(act.lane)) {
            changes.gather(act);
        }
        changes::apply(*self, connection, changes).await?;
        Ok(round.lanes().filter(|lane| repeated.contains(*lane) || added.contains(*lane)).collect())
    }

    /// The lanes whose last line is this very act.
    async fn find(&self, connection: &mut SqliteConnection, round: &Round<'_>) -> Result<LaneSet> {
        let lines = list(round.acts(), |text, act| {
            let (lane, n, kind, cursor) = (act.lane, act.n, act.kind.as_str(), act.cursor.after);
            write!(text, "[{lane},{n},\"{kind}\",{cursor},{}]", act.delivered)
        });
        let query = sqlx::query(self.log.statements.find_lines.clone())
            .bind(self.subscription)
            .bind(self.relay.0.as_str())
            .bind(lines);
        let rows = query.fetch_all(connection).await.map_err(failed("find lines"))?;
        rows.iter().map(|row| get(row, 0).map(Lane)).collect()
    }
}

fn bind_act<'q>(query: Bound<'q>, act: &Act) -> Bound<'q> {
    let count = |kind: fn(&Change) -> bool| {
        let count = act.changes.iter().filter(|change| kind(change)).count();
        i64::try_from(count).unwrap_or(i64::MAX)
    };
    query
        .bind(act.lane.0)
        .bind(act.n)
        .bind(act.kind.as_str())
        .bind(act.cursor.after.0)
        .bind(act.delivered)
        .bind(count(|change| matches!(change, Change::Park(_))))
        .bind(count(|change| matches!(change, Change::Bury(_))))
}

/// An act on no lane, which does nothing: so a few statements, kept prepared, do for any number of acts.
fn bind_nothing(query: Bound<'_>) -> Bound<'_> {
    (0..7).fold(query, |query, _| query.bind(None::<i64>))
}

/// A JSON array of what is written for each item. Writing into a text cannot fail.
pub(crate) fn list<T>(
    items: impl Iterator<Item = T>,
    write: impl Fn(&mut String, T) -> std::fmt::Result,
) -> String {
    let mut text = String::from("[");
    for item in items {
        if text.len() > 1 {
            text.push(',');
        }
        let _ = write(&mut text, item);
    }
    text.push(']');
    text
}
