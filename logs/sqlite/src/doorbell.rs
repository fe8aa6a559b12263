//! The doorbell: rings soon after anybody, in any process, has published or an operator has done something.

use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use futures_util::stream::{self, BoxStream, StreamExt};
use sqlx::{ConnectOptions, Row, SqlStr, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::sync::mpsc;

/// For so long after a file was written to SQLite is asked each time: the time of a file ticks more slowly than writers commit, and what is written is seen
/// by others only when it is on the disk.
const ASKED_AFTER: Duration = Duration::from_millis(200);

/// So often it is asked anyway, in case a file system tells nothing.
const ASKED_ANYWAY: Duration = Duration::from_secs(1);

/// After so long without a write the files are looked at half as often.
const SILENCE: Duration = Duration::from_secs(1);

/// A stream that never ends. Whenever it is worth it, it looks, on a connection of its own, and goes on looking after errors: a
/// relay that hears nothing still polls.
pub(crate) fn doorbell(
    options: SqliteConnectOptions,
    sql: SqlStr,
    interval: Duration,
) -> BoxStream<'static, ()> {
    let worth = watch_files(Files::of(options.get_filename()), interval);
    let watch = Watch { options, sql, connection: None, heard: None, worth };
    stream::unfold(watch, |mut watch| async move {
        loop {
            if watch.worth.recv().await.is_none() {
                // Nobody watches. The stream is silent, and does not end.
                std::future::pending::<()>().await;
            }
            match watch.look().await {
                Ok(true) => return Some(((), watch)),
                Ok(false) => {}
                Err(error) => {
                    tracing::debug!(error = %error, "the doorbell cannot see the database");
                    watch.connection = None;
                }
            }
        }
    })
    .boxed()
}

/// Watches the files on a thread, which ends when nobody listens any more. A thread that sleeps is woken for less than a timer of the runtime: to look is most of
/// what an idle relay does.
fn watch_files(mut files: Files, interval: Duration) -> mpsc::Receiver<()> {
    let (worth, listener) = mpsc::channel(1);
    let watching = move || {
        loop {
            thread::sleep(if files.are_silent(Instant::now()) { 2 * interval } else { interval });
            if files.are_worth_a_look(Instant::now()) {
                // Who has not looked yet looks once for both.
                _ = worth.try_send(());
            }
            if worth.is_closed() {
                return;
            }
        }
    };
    if let Err(error) = thread::Builder::new().name("posthaste-bell".to_owned()).spawn(watching) {
        tracing::warn!(error = %error, "no thread can watch for commits: what other processes publish is found by polling");
    }
    listener
}

struct Watch {
    options: SqliteConnectOptions,
    sql: SqlStr,
    connection: Option<SqliteConnection>,
    heard: Option<Heard>,
    /// Says when it is worth to look.
    worth: mpsc::Receiver<()>,
}

#[derive(Clone, Copy, PartialEq)]
struct Heard {
    /// Changes when another connection has committed; counted by each connection for itself. It costs next to nothing.
    commits: i64,
    /// Grows with what relays want to know.
    news: i64,
}

impl Watch {
    /// Whether there is something new.
    async fn look(&mut self) -> sqlx::Result<bool> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => {
                // Its count of commits says nothing about what the last connection had seen.
                if let Some(heard) = &mut self.heard {
                    heard.commits = -1;
                }
                self.connection.insert(self.options.connect().await?)
            }
        };
        let commits = number("pragma data_version", connection).await?;
        if self.heard.is_some_and(|heard| heard.commits == commits) {
            return Ok(false);
        }
        let news = number(self.sql.clone(), connection).await?;
        let before = self.heard.replace(Heard { commits, news });
        // The first look rings: nobody knows what came between the making of the stream and this.
        Ok(before.is_none_or(|before| before.news != news))
    }
}

async fn number(sql: impl sqlx::SqlSafeStr, connection: &mut SqliteConnection) -> sqlx::Result<i64> {
    sqlx::query(sql).fetch_one(connection).await?.try_get_unchecked(0)
}

/// The files that a commit writes to. When that was is known to the file system, and to ask it costs a fraction of asking SQLite.
struct Files {
    /// The database, and the write-ahead log beside it.
    paths: [PathBuf; 2],
    written: Written,
    changed: Option<Instant>,
    asked: Option<Instant>,
}

/// When each file was written to last, and its size; none where there is no file.
type Written = [Option<(SystemTime, u64)>; 2];

impl Files {
    fn of(database: &Path) -> Self {
        // SQLite puts the log beside the file, and not beside a link to it.
        let database = fs::canonicalize(database).unwrap_or_else(|_| database.to_owned());
        let mut log = database.clone().into_os_string();
        log.push("-wal");
        Self { paths: [database, log.into()], written: [None; 2], changed: None, asked: None }
    }

    fn are_silent(&self, now: Instant) -> bool {
        !within(SILENCE, self.changed, now)
    }

    /// Whether SQLite is to be asked: something was written lately, or it was not asked for long.
    fn are_worth_a_look(&mut self, now: Instant) -> bool {
        let written = self.paths.each_ref().map(|path| written(path));
        if written != self.written {
            (self.written, self.changed) = (written, Some(now));
        }
        let worth = within(ASKED_AFTER, self.changed, now) || !within(ASKED_ANYWAY, self.asked, now);
        if worth {
            self.asked = Some(now);
        }
        worth
    }
}

fn within(span: Duration, then: Option<Instant>, now: Instant) -> bool {
    then.is_some_and(|then| now.duration_since(then) < span)
}

fn written(path: &Path) -> Option<(SystemTime, u64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_is_asked_while_somebody_writes_and_seldom_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.db");
        fs::write(&path, "a").unwrap();
        let mut files = Files::of(&path);
        let mut now = Instant::now();
        let mut looks = |ticks: u32| {
            let look = |_| {
                now += Duration::from_millis(20);
                u32::from(files.are_worth_a_look(now))
            };
            (0..ticks).map(look).sum::<u32>()
        };

        assert_eq!(looks(1), 1, "the first look is one");
        looks(100);
        assert_eq!(looks(100), 2, "nothing is written: once a second");
        fs::write(folder.path().join("shop.db-wal"), "b").unwrap();
        assert_eq!(looks(10), 10, "somebody writes to the log");
        looks(100);
        fs::write(&path, "ab").unwrap();
        assert_eq!(looks(10), 10, "or to the database");
        assert!(!files.are_silent(now) && files.are_silent(now + SILENCE));
    }
}
