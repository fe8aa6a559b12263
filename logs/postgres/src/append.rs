//! Appending lines, each with all its changes or not at all.

use std::collections::BTreeMap;

use posthaste_core::{
    Act, Appended, Change, Cursor, EventId, LaneSet, RelayId, Result,
    driver::{Round, rounds},
};
use sqlx::{PgConnection, postgres::PgRow};

use crate::{changes, changes::Changes, error::failed, log::Inner, row::lane, value::Id, window::NOTHING};

pub(crate) async fn append(
    log: &Inner,
    subscription: &str,
    relay: &RelayId,
    acts: &[Act],
) -> Result<Vec<Appended>> {
    if acts.is_empty() {
        return Ok(Vec::new());
    }
    let slot = log.appenders.of(subscription);
    let mut connection = slot.take().await?;
    let writing = Writing { log, subscription, relay };
    let mut answers = vec![Appended::Fenced; acts.len()];
    let rounds = rounds(acts);
    if let [round] = &rounds[..]
        && acts.iter().all(|act| act.changes.is_empty())
    {
        // The good case: one insert, which is a transaction by itself.
        let done = writing.add(&mut connection, round).await?;
        round.answer(done, &mut answers);
    } else {
        connection.begin().await?;
        let mut lost = LaneSet::EMPTY;
        for round in rounds {
            // Who has lost a lane does nothing more to it.
            let round = round.without(lost);
            let done = writing.add_with_changes(&mut connection, &round).await?;
            round.answer(done, &mut answers);
            round.without(done).lanes().for_each(|lane| lost.insert(lane));
        }
    }
    connection.put_back().await?;
    Ok(answers)
}

/// Who writes, and where.
#[derive(Clone, Copy)]
pub(crate) struct Writing<'a> {
    pub(crate) log: &'a Inner,
    pub(crate) subscription: &'a str,
    pub(crate) relay: &'a RelayId,
}

impl Writing<'_> {
    /// Adds the lines, and answers the lanes that have them now, whether from this time or from one whose answer was lost.
    async fn add(&self, connection: &mut PgConnection, round: &Round<'_>) -> Result<LaneSet> {
        if round.acts().len() == 0 {
            return Ok(LaneSet::EMPTY);
        }
        let footing = Footing::of(round);
        let query = self
            .log
            .query(&self.log.statements.append_lines)
            .bind(self.subscription)
            .bind(self.relay.0.as_str())
            .bind(self.log.now())
            .bind(footing.incarnation.map(|id| Id(EventId::from_bytes(id.to_be_bytes()))))
            .bind(footing.numbers)
            .bind(footing.texts)
            .bind(round.each(|act| i16::from(act.lane.0)))
            .bind(round.each(|act| act.n))
            .bind(round.each(|act| act.kind.as_str()))
            .bind(round.each(|act| act.cursor.from.number()))
            .bind(round.each(|act| act.cursor.to.number()))
            .bind(round.each(|act| act.cursor.after.0))
            .bind(round.each(|act| i32::try_from(act.delivered).unwrap_or(i32::MAX)))
            .bind(round.each(|act| count(act, |change| matches!(change, Change::Park(_)))))
            .bind(round.each(|act| count(act, |change| matches!(change, Change::Bury(_)))));
        let added = query.fetch_all(&mut *connection).await.map_err(failed("append lines"))?;
        let added = lanes(&added)?;
        if added.len() as usize == round.acts().len() {
            return Ok(added);
        }
        let found = self.find(connection, &round.without(added)).await?;
        Ok(added.iter().chain(found.iter()).collect())
    }

    /// Adds the lines with their changes. What had been added before is done too, and changes nothing a second time.
    async fn add_with_changes(&self, connection: &mut PgConnection, round: &Round<'_>) -> Result<LaneSet> {
        let repeated = self.find(connection, round).await?;
        let fresh = round.without(repeated);
        let added = self.add(connection, &fresh).await?;
        let mut changes = Changes::default();
        for act in fresh.acts().filter(|act| added.contains(act.lane)) {
            changes.gather(act);
        }
        changes::apply(*self, connection, changes).await?;
        Ok(repeated.iter().chain(added.iter()).collect())
    }

    /// The lanes whose last line is this very act.
    async fn find(&self, connection: &mut PgConnection, round: &Round<'_>) -> Result<LaneSet> {
        let query = self
            .log
            .query(&self.log.statements.find_lines)
            .bind(self.subscription)
            .bind(self.relay.0.as_str())
            .bind(round.each(|act| i16::from(act.lane.0)))
            .bind(round.each(|act| act.n))
            .bind(round.each(|act| act.kind.as_str()))
            .bind(round.each(|act| act.cursor.from.number()))
            .bind(round.each(|act| act.cursor.to.number()))
            .bind(round.each(|act| act.cursor.after.0))
            .bind(round.each(|act| i32::try_from(act.delivered).unwrap_or(i32::MAX)));
        lanes(&query.fetch_all(connection).await.map_err(failed("find lines"))?)
    }
}

/// What the cursors of a round stand on. All snapshots that were not kept yet must be of the server's present incarnation; of two
/// different ones neither can be trusted, and a made-up third keeps everything out.
struct Footing {
    incarnation: Option<u128>,
    numbers: Vec<i64>,
    texts: Vec<String>,
}

impl Footing {
    fn of(round: &Round<'_>) -> Self {
        let cursors = round.acts().map(|act| &act.cursor);
        let snapshots = cursors.flat_map(|Cursor { to, from, .. }| [from, to]);
        let mut footing = Self { incarnation: None, numbers: Vec::new(), texts: Vec::new() };
        let mut kept = BTreeMap::new();
        for snapshot in snapshots.filter(|snapshot| snapshot.number() != 0) {
            kept.entry(snapshot.number()).or_insert_with(|| snapshot.text().unwrap_or(NOTHING));
            footing.incarnation = match (footing.incarnation, snapshot.incarnation()) {
                (Some(one), Some(other)) if one != other => Some(0),
                (one, other) => one.or(other),
            };
        }
        (footing.numbers, footing.texts) =
            kept.into_iter().map(|(number, text)| (number, text.to_owned())).unzip();
        footing
    }
}

fn count(act: &Act, kind: fn(&Change) -> bool) -> i32 {
    i32::try_from(act.changes.iter().filter(|change| kind(change)).count()).unwrap_or(i32::MAX)
}

fn lanes(rows: &[PgRow]) -> Result<LaneSet> {
    rows.iter().map(|row| lane(row, 0)).collect()
}
