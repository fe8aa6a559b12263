//! The doorbell: rings soon after anybody, in any process, has published or an operator has done something.

use std::time::Duration;

use futures_util::stream::{self, BoxStream, StreamExt};
use sqlx::{ConnectOptions, Row, SqlStr, SqliteConnection, sqlite::SqliteConnectOptions};

/// A stream that never ends. It looks every so often, on a connection of its own, and goes on looking after errors: a
/// relay that hears nothing still polls.
pub(crate) fn doorbell(
    options: SqliteConnectOptions,
    sql: SqlStr,
    interval: Duration,
) -> BoxStream<'static, ()> {
    let watch = Watch { options, sql, connection: None, heard: None };
    stream::unfold(watch, move |mut watch| async move {
        loop {
            tokio::time::sleep(interval).await;
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
