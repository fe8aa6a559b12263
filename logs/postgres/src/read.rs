//! Reading: the next entries of a window, and parked entries that may go. This is the hot loop.

use std::sync::PoisonError;

use futures_util::TryStreamExt;
use posthaste_core::{
    Cursor, Entry, LaneSet, Origin, Page, Position, Read, Result, Snapshot, Timestamp, driver::Filling,
};
use sqlx::{PgConnection, Row, SqlStr, postgres::PgRow};

use crate::{
    error::{damaged, failed},
    log::{Inner, ReadingSlot},
    row::{ENTRY_COLUMNS, Reader, get},
    slot::Taken,
    statements::Bound,
    value::{Id, Time},
    window::{Bounds, Empty, Memory, NOTHING, Window, barrier},
};

pub(crate) async fn read(log: &Inner, read: &Read) -> Result<Page> {
    let slot = log.readers.of(&read.subscription);
    let mut connection = slot.slot.take().await?;
    let reading = Reading { log, read, slot: &slot };
    let page = reading.page(&mut connection).await?;
    if let Some(page) = page {
        connection.put_back().await?;
        return Ok(page);
    }
    // The incarnation has no name yet: the server is new, or has crashed.
    let named = log.query(&log.statements.incarnate).execute(&mut *connection).await;
    named.map_err(failed("name the server's incarnation"))?;
    connection.put_back().await?;
    let mut connection = slot.slot.take().await?;
    let page = reading.page(&mut connection).await?;
    connection.put_back().await?;
    page.ok_or_else(|| damaged("read: the server's incarnation has no name"))
}

struct Reading<'a> {
    log: &'a Inner,
    read: &'a Read,
    slot: &'a ReadingSlot,
}

impl Reading<'_> {
    /// The page; nothing if the server's incarnation has no name yet.
    async fn page(&self, connection: &mut Taken<'_>) -> Result<Option<Page>> {
        let window = Window::next(&self.read.after, self.read.until.as_ref());
        let Some((standing, opened)) = self.open(connection, &window).await? else { return Ok(None) };
        let after = &self.read.after;
        let gone = |snapshot: &Snapshot| {
            snapshot.incarnation().is_some_and(|taken_in| taken_in != standing.incarnation)
        };
        // Those that others stand on as well: their window would be joined.
        let mut cursors = std::iter::once(after).chain(&self.read.until);
        if cursors.any(|cursor| gone(&cursor.from) || gone(&cursor.to)) {
            return Ok(Some(Page { void: true, ..Page::default() }));
        }
        let mut page = match opened {
            Some(opened) => self.entries(connection, &window, opened, standing.now).await?,
            None => Page { start: after.clone(), end: after.clone(), ..Page::default() },
        };
        if standing.first_due.is_some_and(|due| due <= standing.now) {
            page.parked = self.parked(connection, standing.now).await?;
        }
        page.troubled = standing.troubled;
        page.next_due = standing.next_due.map(|due| due.since(standing.now));
        page.stale = standing.stale;
        Ok(Some(page))
    }

    /// Asks how things stand, and opens the window unless its bounds are known.
    async fn open(
        &self,
        connection: &mut PgConnection,
        window: &Window,
    ) -> Result<Option<(Standing, Option<Opened>)>> {
        if self.read.lanes.is_empty() {
            let row = self.ask_standing(connection).await?;
            return Ok(Standing::decode(&row)?.map(|standing| (standing, None)));
        }
        if let Some((opened, incarnation)) = self.remembered(window) {
            let row = self.ask_standing(connection).await?;
            let Some(standing) = Standing::decode(&row)? else { return Ok(None) };
            if standing.incarnation == incarnation {
                return Ok(Some((standing, Some(opened))));
            }
        }
        let Some((standing, row)) = self.ask_open(connection, window).await? else { return Ok(None) };
        if window.to.is_some() && !get::<bool>(&row, 10)? {
            // What others have read is behind this lane: it goes on to now, and they will come.
            let to_now = Window { to: None, until: None, ..window.clone() };
            let Some((standing, row)) = self.ask_open(connection, &to_now).await? else { return Ok(None) };
            let opened = self.opened(&row, &to_now, &standing)?;
            return Ok(Some((standing, opened)));
        }
        let opened = self.opened(&row, window, &standing)?;
        Ok(Some((standing, opened)))
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.slot.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The window if its bounds are known, and from which incarnation of the server.
    fn remembered(&self, window: &Window) -> Option<(Opened, u128)> {
        let to = window.to.as_ref()?;
        let (bounds, incarnation) = self.memory().bounds(&window.from, to)?;
        Some((Opened { to: to.clone(), bounds }, incarnation))
    }

    async fn ask_standing(&self, connection: &mut PgConnection) -> Result<PgRow> {
        let query = self
            .log
            .query(&self.log.statements.standing)
            .bind(self.read.subscription.as_str())
            .bind(self.read.generation)
            .bind(self.log.now())
            .bind(self.read.parked.mask());
        query.fetch_one(connection).await.map_err(failed("read"))
    }

    /// Nothing if the server's incarnation has no name.
    async fn ask_open(
        &self,
        connection: &mut PgConnection,
        window: &Window,
    ) -> Result<Option<(Standing, PgRow)>> {
        let empty = self.memory().nothing_behind(&window.from).filter(|_| window.to.is_none()).cloned();
        let row = self.query_open(connection, window, empty.as_ref()).await?;
        let Some(standing) = Standing::decode(&row)? else { return Ok(None) };
        if empty.is_some_and(|empty| empty.incarnation != standing.incarnation) {
            // The server has crashed since, and the same snapshot may have something behind it now.
            let row = self.query_open(connection, window, None).await?;
            return Ok(Some((standing, row)));
        }
        Ok(Some((standing, row)))
    }

    async fn query_open(
        &self,
        connection: &mut PgConnection,
        window: &Window,
        empty: Option<&Empty>,
    ) -> Result<PgRow> {
        let query = self
            .log
            .query(&self.log.statements.open)
            .bind(self.read.subscription.as_str())
            .bind(self.read.generation)
            .bind(self.log.now())
            .bind(self.read.parked.mask())
            .bind(window.from.text().unwrap_or(NOTHING).to_owned())
            .bind(window.to.as_ref().map(|to| to.text().unwrap_or(NOTHING).to_owned()))
            .bind(empty.map(|empty| empty.text.clone()));
        query.fetch_one(connection).await.map_err(failed("open a window"))
    }

    /// The window as the database found it; nothing if it ends now and is empty.
    fn opened(&self, row: &PgRow, window: &Window, standing: &Standing) -> Result<Option<Opened>> {
        let text: &str = get(row, 6)?;
        let bounds = Bounds { first: get(row, 7)?, last: get(row, 8)?, late: get(row, 9)? };
        let to = match &window.to {
            Some(to) => to.clone(),
            None if bounds.is_empty() => {
                self.memory().remember_empty(&window.from, text.to_owned(), standing.incarnation);
                return Ok(None);
            }
            None => {
                let number: Option<i64> = get(row, 11)?;
                let number = number.ok_or_else(|| damaged("open a window: it has no number"))?;
                Snapshot::fresh(number, text, standing.incarnation)
            }
        };
        self.memory().remember(&window.from, &to, &bounds, standing.incarnation);
        Ok(Some(Opened { to, bounds }))
    }

    async fn entries(
        &self,
        connection: &mut Taken<'_>,
        window: &Window,
        opened: Opened,
        now: Timestamp,
    ) -> Result<Page> {
        let filling = self.fill(connection, window, &opened, now).await?;
        self.memory().measured(filling.entries.len(), filling.bytes);
        let Opened { to, bounds } = opened;
        let start = window.start(&to);
        let highest = filling.entries.last().map_or(0, |last| last.position.0).max(bounds.last.unwrap_or(0));
        let seen = Position(highest);
        let end = match (filling.entries.last(), window.until) {
            (Some(last), _) if filling.more => start.moved_to(last.position),
            (None, _) if filling.more => start.clone(),
            (_, Some(until)) => start.moved_to(until),
            // Done; from here on only the end of the window counts.
            (_, None) => Cursor { from: to.clone(), to, after: seen.max(self.read.after.after) },
        };
        // Behind a window that ended before now there may be another.
        let more = filling.more || (window.to.is_some() && window.until.is_none());
        Ok(Page { entries: filling.entries, start, end, more, seen, ..Page::default() })
    }

    async fn fill(
        &self,
        connection: &mut Taken<'_>,
        window: &Window,
        Opened { to, bounds }: &Opened,
        now: Timestamp,
    ) -> Result<Filling> {
        let mut filling = Filling::new(self.read.limit);
        if bounds.is_empty() {
            return Ok(filling);
        }
        let statements = &self.log.statements;
        let sql = if bounds.late.is_some() { &statements.batch_late } else { &statements.batch };
        let rows = self.memory().rows_for(self.read.limit.entries, self.read.limit.bytes);
        let last = window.until.map_or(bounds.last, |until| bounds.last.map(|last| last.min(until.0)));
        let query = self
            .ask_entries(sql)
            .bind(barrier(&window.from))
            .bind(to.text().unwrap_or(NOTHING).to_owned())
            .bind(window.after.0)
            .bind(last)
            .bind(self.read.lanes.mask())
            .bind(rows)
            .bind(bounds.first);
        let query = match &bounds.late {
            Some(late) => query.bind(late.clone()),
            None => query,
        };
        let reader = self.reader(Origin::Log, now);
        let mut stream = query.fetch(&mut **connection);
        let mut received: i64 = 0;
        while let Some(row) = stream.try_next().await.map_err(failed("read"))? {
            received += 1;
            let mut entry = reader.entry(&row)?;
            entry.blocked = get(&row, ENTRY_COLUMNS)?;
            if window.until.is_some_and(|until| entry.position > until) {
                break;
            }
            if !filling.take(entry) {
                break;
            }
        }
        // Fewer rows were asked for than the limit allows: then their number, not the log, ended the page.
        filling.more |= received == rows && window.until.is_none_or(|until| filling.last() < until);
        Ok(filling)
    }

    async fn parked(&self, connection: &mut PgConnection, now: Timestamp) -> Result<Vec<Entry>> {
        let rows = self.memory().rows_for(self.read.limit.entries, self.read.limit.bytes);
        let query =
            self.ask_entries(&self.log.statements.read_parked).bind(self.read.parked.mask()).bind(rows);
        let reader = self.reader(Origin::Parked, now);
        let mut stream = query.fetch(connection);
        let mut filling = Filling::new(self.read.limit);
        while let Some(row) = stream.try_next().await.map_err(failed("read what is parked"))? {
            let mut entry = reader.entry(&row)?;
            entry.attempts = u32::try_from(get::<i32>(&row, ENTRY_COLUMNS)?).unwrap_or_default();
            if !filling.take(entry) {
                break;
            }
        }
        Ok(filling.entries)
    }

    /// The parameters that all statements of entries begin with.
    fn ask_entries(&self, sql: &SqlStr) -> Bound<'static> {
        self.log
            .query(sql)
            .bind(self.log.payload_limit())
            .bind(self.read.subscription.clone())
            .bind(self.read.hold_dead)
            .bind(self.log.now())
    }

    fn reader(&self, origin: Origin, now: Timestamp) -> Reader {
        Reader { origin, now, payload_limit: self.log.options.payload_limit }
    }
}

/// A window whose end and bounds are known.
struct Opened {
    to: Snapshot,
    bounds: Bounds,
}

/// How the subscription stands.
struct Standing {
    incarnation: u128,
    stale: bool,
    troubled: LaneSet,
    now: Timestamp,
    /// When the first of what is parked in the asked lanes is due, or was.
    first_due: Option<Timestamp>,
    next_due: Option<Timestamp>,
}

impl Standing {
    /// Nothing if the server's incarnation has no name.
    fn decode(row: &PgRow) -> Result<Option<Self>> {
        let incarnation: Option<Id> = row.try_get_unchecked(0).map_err(failed("read"))?;
        let Some(Id(incarnation)) = incarnation else { return Ok(None) };
        let mask: i64 = get(row, 2)?;
        let time = |column| get::<Option<Time>>(row, column).map(|time| time.map(|time| time.0));
        Ok(Some(Self {
            incarnation: u128::from_be_bytes(*incarnation.as_bytes()),
            stale: get(row, 1)?,
            troubled: LaneSet::from_mask(mask),
            now: time(3)?.unwrap_or_default(),
            first_due: time(4)?,
            next_due: time(5)?,
        }))
    }
}
