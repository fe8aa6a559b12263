//! How the lanes stand: their last lines, who holds them, and what is ahead of them.

use std::collections::HashMap;

use posthaste_core::{
    ActKind, Lane, LaneStatus, MAX_COUNTED, Position, RelayId, RelayStatus, Result, Sample, Timestamp,
};
use sqlx::{SqliteConnection, sqlite::SqliteRow};

use super::is_paused;
use crate::{
    error::{damaged, failed},
    log::Inner,
    row::get,
    subscribe::last_position,
};

pub(super) async fn lanes(log: &Inner, subscription: &str) -> Result<Vec<LaneStatus>> {
    let now = log.now();
    let mut connection = log.admin.take().await?;
    let mut tx = connection.begin_read().await?;
    is_paused(log, &mut tx, subscription).await?;
    let relays = relays(log, &mut tx, now).await?;
    let lines = last_lines(log, &mut tx, Some(subscription)).await?;
    let ahead = Ahead::of(log, &mut tx, subscription).await?;
    tx.rollback().await.map_err(failed("lanes"))?;
    connection.put_back();
    Ok(lines.into_iter().map(|line| line.status(&relays, &ahead, now)).collect())
}

/// The relays whose lease has not ended, none of them with any lanes yet.
pub(super) async fn relays(
    log: &Inner,
    connection: &mut SqliteConnection,
    now: Timestamp,
) -> Result<Vec<RelayStatus>> {
    let rows = sqlx::query(log.statements.status_relays.clone())
        .bind(now.0)
        .fetch_all(connection)
        .await
        .map_err(failed("status"))?;
    rows.iter().map(relay).collect()
}

fn relay(row: &SqliteRow) -> Result<RelayStatus> {
    Ok(RelayStatus {
        relay: RelayId(get(row, 0)?),
        host: get(row, 1)?,
        version: get(row, 2)?,
        subscriptions: serde_json::from_str(get(row, 3)?)
            .map_err(|error| damaged("status: a relay serves no list of names").with_source(error))?,
        started_at: Timestamp(get(row, 4)?),
        held_until: Timestamp(get(row, 5)?),
        lanes: 0,
    })
}

/// The last line of a lane.
pub(super) struct LastLine {
    pub(super) subscription: String,
    pub(super) lane: Lane,
    /// Its number; none if the lane has no line.
    pub(super) n: Option<i64>,
    kind: Option<ActKind>,
    relay: Option<RelayId>,
    settled: i64,
    pub(super) at: Option<Timestamp>,
    /// How many deliveries the lines of the lane tell of.
    pub(super) delivered: u64,
}

/// The last line of every lane of one subscription or of all, in order.
pub(super) async fn last_lines(
    log: &Inner,
    connection: &mut SqliteConnection,
    subscription: Option<&str>,
) -> Result<Vec<LastLine>> {
    let rows = sqlx::query(log.statements.status_lanes.clone())
        .bind(subscription)
        .bind(log.lanes())
        .fetch_all(connection)
        .await
        .map_err(failed("status"))?;
    rows.iter().map(last_line).collect()
}

fn last_line(row: &SqliteRow) -> Result<LastLine> {
    let kind: Option<&str> = get(row, 3)?;
    let kind = kind.map(|kind| ActKind::of(kind).ok_or_else(|| damaged("status: a line has no known kind")));
    Ok(LastLine {
        subscription: get(row, 0)?,
        lane: Lane(get(row, 1)?),
        n: get(row, 2)?,
        kind: kind.transpose()?,
        relay: get::<Option<String>>(row, 4)?.map(RelayId),
        settled: get(row, 5)?,
        at: get::<Option<i64>>(row, 6)?.map(Timestamp),
        delivered: get(row, 7)?,
    })
}

impl LastLine {
    /// Who holds the lane, of the relays that are alive.
    pub(super) fn holder(&self) -> Option<&RelayId> {
        self.relay.as_ref().filter(|_| self.kind.is_some_and(ActKind::holds))
    }

    fn status(&self, relays: &[RelayStatus], ahead: &Ahead, now: Timestamp) -> LaneStatus {
        let is_live = |holder: &&RelayId| relays.iter().any(|live| live.relay == **holder);
        let oldest = ahead.lanes.get(&self.lane).and_then(|lane| lane.oldest);
        LaneStatus {
            lane: self.lane,
            n: self.n.unwrap_or_default(),
            kind: self.kind,
            at: self.at,
            holder: self.holder().filter(is_live).cloned(),
            settled: Position(self.settled),
            pending: ahead.of_lane(self.lane),
            pending_estimated: ahead.sample.is_cut(),
            oldest_age_seconds: oldest.map(|created_at| now.since(created_at).as_secs_f64()),
        }
    }
}

/// What lies ahead of the cursors of a subscription: counted up to a bound, and estimated beyond it.
pub(super) struct Ahead {
    pub(super) sample: Sample,
    /// The last position of the log.
    last: i64,
    lanes: HashMap<Lane, LaneAhead>,
}

struct LaneAhead {
    rows: u64,
    oldest: Option<Timestamp>,
}

impl Ahead {
    pub(super) async fn of(log: &Inner, connection: &mut SqliteConnection, name: &str) -> Result<Self> {
        let rows = sqlx::query(log.statements.ahead.clone())
            .bind(name)
            .bind(log.lanes())
            .bind(i64::try_from(MAX_COUNTED).unwrap_or(i64::MAX) + 1)
            .fetch_all(&mut *connection)
            .await
            .map_err(failed("count what is ahead"))?;
        let last = last_position(log, connection).await?;
        let mut ahead = Self { sample: Sample::default(), last, lanes: HashMap::new() };
        for row in &rows {
            let (lane, count): (u8, u64) = (get(row, 0)?, get(row, 1)?);
            let oldest = get::<Option<i64>>(row, 2)?.map(Timestamp);
            ahead.sample = ahead.sample.and(Sample { rows: count, first: get(row, 3)?, last: get(row, 4)? });
            ahead.lanes.insert(Lane(lane), LaneAhead { rows: count, oldest });
        }
        Ok(ahead)
    }

    /// How many in all lanes.
    pub(super) fn pending(&self) -> u64 {
        self.sample.extrapolate(self.sample.rows, self.last)
    }

    /// When the oldest was written.
    pub(super) fn oldest(&self) -> Option<Timestamp> {
        self.lanes.values().filter_map(|lane| lane.oldest).min()
    }

    fn of_lane(&self, lane: Lane) -> u64 {
        self.lanes.get(&lane).map_or(0, |lane| self.sample.extrapolate(lane.rows, self.last))
    }
}
