//! How the lanes stand: their last lines, who holds them, and what is ahead of them.

use std::collections::HashMap;

use posthaste_core::{ActKind, Lane, LaneStatus, Position, RelayId, RelayStatus, Result, Sample, Timestamp};
use sqlx::{PgConnection, postgres::PgRow};

use super::{count, counted, is_paused, list::extent};
use crate::{
    error::{damaged, failed},
    log::Inner,
    row::{get, lane},
    value::Time,
};

pub(super) async fn lanes(log: &Inner, subscription: &str) -> Result<Vec<LaneStatus>> {
    let mut connection = log.desks.reading().await?;
    is_paused(log, &mut connection, subscription).await?;
    let asked = log.query(&log.statements.status_log).bind(log.now()).fetch_one(&mut *connection).await;
    let now = get::<Time>(&asked.map_err(failed("lanes"))?, 0)?.0;
    let relays = relays(log, &mut connection).await?;
    let lines = last_lines(log, &mut connection, Some(subscription)).await?;
    let ahead = Ahead::of(log, &mut connection, subscription).await?;
    connection.put_back().await?;
    Ok(lines.into_iter().map(|line| line.status(&relays, &ahead, now)).collect())
}

/// The relays whose lease has not ended, none of them with any lanes yet.
pub(super) async fn relays(log: &Inner, connection: &mut PgConnection) -> Result<Vec<RelayStatus>> {
    let rows = log.query(&log.statements.status_relays).bind(log.now()).fetch_all(connection).await;
    rows.map_err(failed("status"))?.iter().map(relay).collect()
}

fn relay(row: &PgRow) -> Result<RelayStatus> {
    Ok(RelayStatus {
        relay: RelayId(get(row, 0)?),
        host: get(row, 1)?,
        version: get(row, 2)?,
        subscriptions: get(row, 3)?,
        started_at: get::<Time>(row, 4)?.0,
        held_until: get::<Time>(row, 5)?.0,
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
    connection: &mut PgConnection,
    subscription: Option<&str>,
) -> Result<Vec<LastLine>> {
    let rows = log.query(&log.statements.status_lanes).bind(subscription).fetch_all(connection).await;
    rows.map_err(failed("status"))?.iter().map(last_line).collect()
}

fn last_line(row: &PgRow) -> Result<LastLine> {
    let kind: Option<&str> = get(row, 3)?;
    let kind = kind.map(|kind| ActKind::of(kind).ok_or_else(|| damaged("status: a line has no known kind")));
    Ok(LastLine {
        subscription: get(row, 0)?,
        lane: lane(row, 1)?,
        n: get(row, 2)?,
        kind: kind.transpose()?,
        relay: get::<Option<String>>(row, 4)?.map(RelayId),
        settled: get(row, 5)?,
        at: get::<Option<Time>>(row, 6)?.map(|time| time.0),
        delivered: count(row, 7)?,
    })
}

impl LastLine {
    /// Who holds the lane, if that relay is alive.
    pub(super) fn holder(&self) -> Option<&RelayId> {
        self.relay.as_ref().filter(|_| self.kind.is_some_and(ActKind::holds))
    }

    fn status(&self, relays: &[RelayStatus], ahead: &Ahead, now: Timestamp) -> LaneStatus {
        let is_live = |holder: &&RelayId| relays.iter().any(|live| live.relay == **holder);
        let oldest = ahead.parts.iter().filter_map(|part| part.lanes.get(&self.lane)?.oldest).min();
        LaneStatus {
            lane: self.lane,
            n: self.n.unwrap_or_default(),
            kind: self.kind,
            at: self.at,
            holder: self.holder().filter(is_live).cloned(),
            settled: Position(self.settled),
            pending: ahead.of_lane(self.lane),
            pending_estimated: ahead.is_cut(),
            oldest_age_seconds: oldest.map(|created_at| now.since(created_at).as_secs_f64()),
        }
    }
}

/// What lies ahead of the cursors of a subscription: counted up to a bound, and estimated beyond it.
pub(super) struct Ahead {
    /// What is left of windows that are half done, what no window sees yet, and what was late.
    parts: [Part; 3],
}

/// Events that are ahead for the same reason.
#[derive(Default)]
struct Part {
    sample: Sample,
    /// Up to where such events can be.
    end: i64,
    lanes: HashMap<Lane, LaneAhead>,
}

struct LaneAhead {
    rows: u64,
    oldest: Option<Timestamp>,
}

impl Part {
    fn pending(&self) -> u64 {
        self.sample.extrapolate(self.sample.rows, self.end)
    }

    fn of_lane(&self, lane: Lane) -> u64 {
        self.lanes.get(&lane).map_or(0, |lane| self.sample.extrapolate(lane.rows, self.end))
    }
}

impl Ahead {
    pub(super) async fn of(log: &Inner, connection: &mut PgConnection, name: &str) -> Result<Self> {
        let asked = log.query(&log.statements.ahead).bind(name).bind(counted() + 1);
        let rows = asked.fetch_all(&mut *connection).await.map_err(failed("count what is ahead"))?;
        let mut parts: [Part; 3] = Default::default();
        for row in &rows {
            let kind = usize::try_from(get::<i32>(row, 0)?).ok();
            let Some(part) = kind.and_then(|kind| parts.get_mut(kind)) else { continue };
            let (lane, rows) = (lane(row, 1)?, count(row, 2)?);
            let oldest = get::<Option<Time>>(row, 3)?.map(|time| time.0);
            part.sample = part.sample.and(Sample { rows, first: get(row, 4)?, last: get(row, 5)? });
            part.lanes.insert(lane, LaneAhead { rows, oldest });
        }
        let last = extent(log, connection).await?.last;
        // What no window sees yet lies behind what windows see, but for what was late.
        let newer = &parts[1].sample;
        parts[0].end = if newer.rows > 0 { newer.first - 1 } else { last };
        parts[1].end = last;
        parts[2].end = last;
        Ok(Self { parts })
    }

    /// Whether not all of it was counted.
    pub(super) fn is_cut(&self) -> bool {
        self.parts.iter().any(|part| part.sample.is_cut())
    }

    /// How many in all lanes.
    pub(super) fn pending(&self) -> u64 {
        self.parts.iter().map(Part::pending).sum()
    }

    /// When the oldest was written.
    pub(super) fn oldest(&self) -> Option<Timestamp> {
        self.parts.iter().flat_map(|part| part.lanes.values()).filter_map(|lane| lane.oldest).min()
    }

    fn of_lane(&self, lane: Lane) -> u64 {
        self.parts.iter().map(|part| part.of_lane(lane)).sum()
    }
}
