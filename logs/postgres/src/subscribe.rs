//! Subscribing: a name with a first line in every lane, in one transaction.

use posthaste_core::{Error, Filter, Result, Start, Subscribed, Subscription};
use sqlx::PgConnection;

use crate::{
    error::failed,
    log::Inner,
    record::json,
    row::get,
    statements::{Place, Statements, once},
};

pub(crate) async fn subscribe(log: &Inner, subscription: &Subscription) -> Result<Subscribed> {
    subscription.validate()?;
    check_filter(&subscription.filter)?;
    let mut connection = log.hold.take().await?;
    connection.begin().await?;
    lock(log, &mut connection).await?;
    let generation = match find(log, &mut connection, &subscription.name).await? {
        None => create(log, &mut connection, subscription).await?,
        Some(stored) if stored.is(subscription) => stored.generation,
        Some(_) => change(log, &mut connection, subscription).await?,
    };
    connection.put_back().await?;
    Ok(Subscribed { generation })
}

/// A pattern with a zero byte matches no event, and the status of events could not be told.
fn check_filter(filter: &Filter) -> Result<()> {
    let mut patterns = filter.types.iter().chain(&filter.topics);
    if patterns.any(|pattern| pattern.to_string().contains('\0')) {
        return Err(Error::invalid(
            "a pattern of the filter has a zero byte, which PostgreSQL cannot store in a text",
        ));
    }
    Ok(())
}

/// Keeps others from creating, dropping, resetting and pruning until the end of the transaction.
pub(crate) async fn lock(log: &Inner, connection: &mut PgConnection) -> Result<()> {
    lock_place(&log.statements, &log.place, connection).await
}

/// The same for tables that are not open yet.
pub(crate) async fn lock_place(
    statements: &Statements,
    place: &Place,
    connection: &mut PgConnection,
) -> Result<()> {
    let what = format!("{}.{}", place.schema().unwrap_or_default(), place.prefix());
    let locked = once(&statements.lock).bind(what).execute(connection).await;
    locked.map_err(failed("wait for others"))?;
    Ok(())
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

async fn find(log: &Inner, connection: &mut PgConnection, name: &str) -> Result<Option<Stored>> {
    let row = log
        .query(&log.statements.find_subscription)
        .bind(name)
        .fetch_optional(connection)
        .await
        .map_err(failed("subscribe"))?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(Stored { filter: get(&row, 0)?, order: get(&row, 1)?, generation: get(&row, 2)? }))
}

/// Answers its generation.
async fn create(log: &Inner, connection: &mut PgConnection, subscription: &Subscription) -> Result<i64> {
    let (number, after) = match subscription.start {
        Start::Beginning => (0, 0),
        Start::Now => snapshot_of_now(log, connection).await?,
    };
    let created = log
        .query(&log.statements.create_subscription)
        .bind(subscription.name.as_str())
        .bind(json(&subscription.filter))
        .bind(subscription.order.as_str())
        .bind(subscription.start.as_str())
        .bind(number)
        .bind(number)
        .bind(after)
        .bind(log.now());
    let created = created.fetch_one(&mut *connection).await.map_err(failed("subscribe"))?;
    let lines = log
        .query(&log.statements.first_lines)
        .bind(subscription.name.as_str())
        .bind(log.lanes())
        .bind(number)
        .bind(number)
        .bind(after)
        .bind(log.now());
    lines.execute(connection).await.map_err(failed("subscribe"))?;
    get(&created, 0)
}

/// Keeps a snapshot of now, and answers its number and the last position in it. Nothing may have been written in the transaction.
pub(crate) async fn snapshot_of_now(log: &Inner, connection: &mut PgConnection) -> Result<(i64, i64)> {
    let taken = log.query(&log.statements.take_snapshot).fetch_one(&mut *connection).await;
    let taken = taken.map_err(failed("take a snapshot"))?;
    let text: String = get(&taken, 0)?;
    let kept = log.query(&log.statements.keep_snapshot).bind(text).fetch_one(connection).await;
    Ok((get(&kept.map_err(failed("keep a snapshot"))?, 0)?, get(&taken, 1)?))
}

async fn change(log: &Inner, connection: &mut PgConnection, subscription: &Subscription) -> Result<i64> {
    let row = log
        .query(&log.statements.change_subscription)
        .bind(subscription.name.as_str())
        .bind(json(&subscription.filter))
        .bind(subscription.order.as_str())
        .fetch_one(connection)
        .await
        .map_err(failed("subscribe"))?;
    get(&row, 0)
}
