//! Subscribing: a name with a first line in every lane, in one transaction.

use posthaste_core::{Result, Start, Subscribed, Subscription};
use sqlx::SqliteConnection;

use crate::{bind::json, error::failed, log::Inner, row::get};

pub(crate) async fn subscribe(log: &Inner, subscription: &Subscription) -> Result<Subscribed> {
    subscription.validate()?;
    let mut connection = log.hold.take().await?;
    let mut tx = connection.begin_immediate().await?;
    let generation = match find(log, &mut tx, &subscription.name).await? {
        None => create(log, &mut tx, subscription).await?,
        Some(stored) if stored.is(subscription) => stored.generation,
        Some(_) => change(log, &mut tx, subscription).await?,
    };
    tx.commit().await?;
    connection.put_back();
    Ok(Subscribed { generation })
}

/// A subscription as it is stored.
struct Stored {
    filter: String,
    order: String,
    generation: i64,
}

impl Stored {
    /// Whether a relay that is configured so reads as everybody else.
    fn is(&self, subscription: &Subscription) -> bool {
        subscription.is_stored_as(&self.filter, &self.order)
    }
}

async fn find(log: &Inner, connection: &mut SqliteConnection, name: &str) -> Result<Option<Stored>> {
    let row = sqlx::query(log.statements.find_subscription.clone())
        .bind(name)
        .fetch_optional(connection)
        .await
        .map_err(failed("subscribe"))?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Stored { filter: get(&row, 0)?, order: get(&row, 1)?, generation: get(&row, 2)? }))
}

/// Answers its generation.
async fn create(log: &Inner, connection: &mut SqliteConnection, subscription: &Subscription) -> Result<i64> {
    let now = log.now().0;
    let cursor = match subscription.start {
        Start::Beginning => 0,
        Start::Now => last_position(log, connection).await?,
    };
    let created = sqlx::query(log.statements.create_subscription.clone())
        .bind(subscription.name.as_str())
        .bind(json(&subscription.filter))
        .bind(subscription.order.as_str())
        .bind(subscription.start.as_str())
        .bind(cursor)
        .bind(now);
    let created = created.fetch_one(&mut *connection).await.map_err(failed("subscribe"))?;
    let lines = sqlx::query(log.statements.first_lines.clone())
        .bind(subscription.name.as_str())
        .bind(log.lanes())
        .bind(cursor)
        .bind(now);
    lines.execute(connection).await.map_err(failed("subscribe"))?;
    get(&created, 0)
}

async fn change(log: &Inner, connection: &mut SqliteConnection, subscription: &Subscription) -> Result<i64> {
    let row = sqlx::query(log.statements.change_subscription.clone())
        .bind(subscription.name.as_str())
        .bind(json(&subscription.filter))
        .bind(subscription.order.as_str())
        .fetch_one(connection)
        .await
        .map_err(failed("subscribe"))?;
    get(&row, 0)
}

/// The last committed position.
pub(crate) async fn last_position(log: &Inner, connection: &mut SqliteConnection) -> Result<i64> {
    let row = sqlx::query(log.statements.last_position.clone())
        .fetch_one(connection)
        .await
        .map_err(failed("find the last position"))?;
    get(&row, 0)
}
