//! The doorbell: rings soon after anybody, in any process, has published or an operator has done something.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use futures_util::stream::{self, BoxStream, StreamExt};
use sqlx::{ConnectOptions, Row, SqlStr, SqliteConnection, sqlite::SqliteConnectOptions};
use tokio::time::Instant;

/// For so long after a file was written to SQLite is asked each time, and otherwise once in so long: the time of a file ticks more slowly than writers
/// commit, what is written is seen by others only when it is on the disk, and some file systems tell late.
const ASKED_FOR: Duration = Duration::from_millis(200);

/// A stream that never ends. It looks every so often, on a connection of its own, and goes on looking after errors: a
/// relay that hears nothing still polls.
pub(crate) fn doorbell(
    options: SqliteConnectOptions,
    sql: SqlStr,
    interval: Duration,
) -> BoxStream<'static, ()> {
    let files = Files::of(options.get_filename());
    let watch = Watch { options, sql, connection: None, heard: None, files };
    stream::unfold(watch, move |mut watch| async move {
        loop {
            tokio::time::sleep(interval).await;
            if !watch.files.are_worth_a_look() {
                continue;
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

struct Watch {
    options: SqliteConnectOptions,
    sql: SqlStr,
    connection: Option<SqliteConnection>,
    heard: Option<Heard>,
    files: Files,
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

/// The files that a commit writes to. When that was is known to the file system, and to ask it costs a fraction of asking SQLite, which wakes another thread:
/// it is what makes an idle relay idle.
struct Files {
    /// The database, and the write-ahead log beside it.
    paths: [PathBuf; 2],
    written: Written,
    changed: Instant,
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
        Self { paths: [database, log.into()], written: [None; 2], changed: Instant::now(), asked: None }
    }

    /// Whether SQLite is to be asked: something was written lately, or it was not asked for a while.
    fn are_worth_a_look(&mut self) -> bool {
        let now = Instant::now();
        let written = self.paths.each_ref().map(|path| written(path));
        if written != self.written {
            (self.written, self.changed) = (written, now);
        }
        let is_long_ago = |then: Instant| now.duration_since(then) >= ASKED_FOR;
        let worth = !is_long_ago(self.changed) || self.asked.is_none_or(is_long_ago);
        if worth {
            self.asked = Some(now);
        }
        worth
    }
}

fn written(path: &Path) -> Option<(SystemTime, u64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn sqlite_is_asked_while_somebody_writes_and_seldom_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.db");
        fs::write(&path, "a").unwrap();
        let mut files = Files::of(&path);
        let tick = Duration::from_millis(20);
        let mut looks = async |ticks: u32| {
            let mut looks = 0;
            for _ in 0..ticks {
                tokio::time::advance(tick).await;
                looks += u32::from(files.are_worth_a_look());
            }
            looks
        };

        assert_eq!(looks(1).await, 1, "the first look is one");
        looks(20).await;
        assert_eq!(looks(50).await, 5, "nothing is written: five times a second");
        fs::write(folder.path().join("shop.db-wal"), "b").unwrap();
        assert_eq!(looks(10).await, 10, "somebody writes to the log");
        looks(20).await;
        fs::write(&path, "ab").unwrap();
        assert_eq!(looks(10).await, 10, "or to the database");
    }
}
