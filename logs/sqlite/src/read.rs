//! Reading: entries behind a cursor and parked entries that may go, in one snapshot. This is the hot loop.

use futures_util::TryStreamExt;
use posthaste_core::{
    Cursor, Entry, LaneSet, Limit, Origin, Page, Position, Read, Result, Timestamp, driver::Filling,
};
use sqlx::{SqliteConnection, sqlite::SqliteRow};

use crate::{
    error::{damaged, failed},
    log::Inner,
    row::{self, Look, get},
};

pub(crate) async fn read(log: &Inner, read: &Read) -> Result<Page> {
    let view = View { log, read, now: log.now() };
    let mut connection = log.read.take().await?;
    // One statement is one snapshot, and all there is to do while nothing that is parked is due.
    let page = match view.entries(&mut connection, WhenParkedIsDue::Stop).await? {
        Some(page) => page,
        None => {
            let mut tx = connection.begin_read().await?;
            let page = view.entries(&mut tx, WhenParkedIsDue::GoOn).await?;
            let mut page = page.ok_or_else(|| damaged("read: the page says nothing"))?;
            page.parked = view.parked(&mut tx).await?;
            tx.rollback().await.map_err(failed("read"))?;
            page
        }
    };
    connection.put_back();
    Ok(page)
}

/// The log as one read sees it.
struct View<'a> {
    log: &'a Inner,
    read: &'a Read,
    now: Timestamp,
}

/// What to do if something that is parked is due, and has to be read from the same snapshot.
#[derive(PartialEq)]
enum WhenParkedIsDue {
    Stop,
    GoOn,
}

impl View<'_> {
    /// The page without what is parked; nothing if it was to stop.
    async fn entries(
        &self,
        connection: &mut SqliteConnection,
        when: WhenParkedIsDue,
    ) -> Result<Option<Page>> {
        let read = self.read;
        let mut rows = sqlx::query(self.log.statements.read.clone())
            .bind(read.subscription.as_str())
            .bind(read.generation)
            .bind(self.now.0)
            .bind(read.lanes.mask())
            .bind(read.after.after.0)
            .bind(read.until.as_ref().map_or(i64::MAX, |until| until.after.0))
            .bind(if read.lanes.is_empty() { 0 } else { rows_for(read.limit) })
            .bind(read.parked.mask())
            .bind(read.hold_dead)
            .bind(self.log.payload_limit())
            .fetch(connection);
        let first = rows.try_next().await.map_err(failed("read"))?;
        let standing = Standing::decode(&first.ok_or_else(|| damaged("read: the page says nothing"))?)?;
        if when == WhenParkedIsDue::Stop && standing.first_due.is_some_and(|due| due <= self.now) {
            return Ok(None);
        }
        let look = self.look(Origin::Log);
        let mut filling = Filling::new(read.limit);
        while let Some(row) = rows.try_next().await.map_err(failed("read"))? {
            if !filling.take(row::entry(&row, look)?) {
                break;
            }
        }
        Ok(Some(self.page(standing, filling)))
    }

    fn look(&self, origin: Origin) -> Look {
        Look { origin, now: self.now, payload_limit: self.log.options.payload_limit }
    }

    fn page(&self, standing: Standing, filling: Filling) -> Page {
        let after = self.read.after.after;
        let end = match filling.entries.last() {
            Some(last) if filling.more => last.position,
            None if filling.more => after,
            // Nothing beyond the last committed position can have been read.
            _ => self
                .read
                .until
                .as_ref()
                .map_or(standing.last, |until| until.after.min(standing.last))
                .max(after),
        };
        Page {
            entries: filling.entries,
            start: self.read.after.clone(),
            end: Cursor::at(end),
            seen: end,
            more: filling.more,
            parked: Vec::new(),
            troubled: standing.troubled,
            next_due: standing.next_due.map(|due| due.since(self.now)),
            stale: standing.stale,
            void: false,
        }
    }

    async fn parked(&self, connection: &mut SqliteConnection) -> Result<Vec<Entry>> {
        let mut rows = sqlx::query(self.log.statements.read_parked.clone())
            .bind(self.read.subscription.as_str())
            .bind(self.now.0)
            .bind(self.read.parked.mask())
            .bind(self.read.hold_dead)
            .bind(rows_for(self.read.limit))
            .bind(self.log.payload_limit())
            .fetch(connection);
        let look = self.look(Origin::Parked);
        let mut filling = Filling::new(self.read.limit);
        while let Some(row) = rows.try_next().await.map_err(failed("read what is parked"))? {
            if !filling.take(row::entry(&row, look)?) {
                break;
            }
        }
        Ok(filling.entries)
    }
}

/// One row more than the limit, to see whether the limit or the log ends the page.
fn rows_for(limit: Limit) -> i64 {
    i64::try_from(limit.entries).unwrap_or(i64::MAX).saturating_add(1)
}

/// How the subscription stands in the snapshot of the page.
struct Standing {
    last: Position,
    stale: bool,
    troubled: LaneSet,
    /// When the first of what is parked in the asked lanes is due, or was.
    first_due: Option<Timestamp>,
    next_due: Option<Timestamp>,
}

impl Standing {
    fn decode(row: &SqliteRow) -> Result<Self> {
        let json: &str = get(row, 1)?;
        let (stale, mask, first_due, next_due): (i64, i64, Option<i64>, Option<i64>) =
            serde_json::from_str(json)
                .map_err(|error| damaged("read: the page says nothing").with_source(error))?;
        Ok(Self {
            last: Position(get(row, 0)?),
            stale: stale != 0,
            troubled: LaneSet::from_mask(mask),
            first_due: first_due.map(Timestamp),
            next_due: next_due.map(Timestamp),
        })
    }
}
