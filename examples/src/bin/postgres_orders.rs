//! Orders in PostgreSQL: one part of the program takes them, another one, which could be another process on another machine, ships them.
//!
//! It needs a server, `POSTHASTE_TEST_POSTGRES=postgres://user:password@host/database`, and makes a schema there that is gone when
//! it ends.

#![expect(clippy::print_stdout, reason = "this is a program")]

use anyhow::{Context, Result, bail};
use posthaste::{
    Event, Outbox, Published, event_types,
    postgres::{self, PgPool},
};
use sqlx::AssertSqlSafe;
use tokio::sync::mpsc;

event_types! { enum OrderEvent { Placed = "order.placed" } }

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::var("POSTHASTE_TEST_POSTGRES")
        .context("set POSTHASTE_TEST_POSTGRES, or run `cargo xtask services up` and source what it prints")?;
    let schema = format!("example_orders_{}", std::process::id());
    let pool = postgres::pool(&url).await?;
    let create =
        format!("create schema {schema}; create table {schema}.orders (number int primary key, item text)");
    sqlx::raw_sql(AssertSqlSafe(create)).execute(&pool).await?;

    let result = take_and_ship(&url, &schema, &pool).await;
    sqlx::raw_sql(AssertSqlSafe(format!("drop schema {schema} cascade"))).execute(&pool).await?;
    result
}

async fn take_and_ship(url: &str, schema: &str, pool: &PgPool) -> Result<()> {
    // Who ships listens. The two share nothing but the database.
    let (shipped, mut ships) = mpsc::channel(8);
    let shipping = Outbox::builder(url).schema(schema).open().await?;
    let relay = shipping
        .relay()
        .listen(OrderEvent::Placed, move |event| {
            let shipped = shipped.clone();
            async move {
                let order = event.aggregate_id.clone().unwrap_or_default();
                Ok(shipped.send(format!("{} of order {order}", event.json::<String>()?)).await?)
            }
        })
        .start()
        .await?;

    // Who takes orders publishes, in the transaction of the order. After the commit, shipping is rung up.
    let orders = Outbox::builder(url).schema(schema).open().await?;
    let place = async |number: i32, item: &str| place(&orders, pool, schema, number, item).await;
    let first = place(7, "tea").await?;
    println!("order 7 is placed, published before: {}", first.duplicate);
    println!("  shipped: {}", ships.recv().await.context("shipping has ended")?);

    // What is rolled back was never published.
    let refused = place(8, "").await.expect_err("an order of nothing is refused");
    println!("order 8 is rolled back: {refused}");

    // A request that comes twice is one order, and one event.
    let again = place(7, "tea").await?;
    println!("order 7 again, published before: {}", again.duplicate);

    place(9, "coffee").await?;
    println!("  shipped: {}", ships.recv().await.context("shipping has ended")?);
    relay.stop().await;
    Ok(())
}

/// Takes an order. Its row and its event are committed together, or neither is.
async fn place(outbox: &Outbox, pool: &PgPool, schema: &str, number: i32, item: &str) -> Result<Published> {
    let insert = format!("insert into {schema}.orders values ($1, $2) on conflict do nothing");
    outbox
        .transaction(pool, async |tx| {
            sqlx::query(AssertSqlSafe(insert)).bind(number).bind(item).execute(&mut ***tx).await?;
            let placed = Event::of(OrderEvent::Placed)
                .aggregate("order", number)
                .idempotency_key(format!("order-{number}"))
                .json(&item)?;
            let published = tx.publish(placed).await?;
            if item.is_empty() {
                bail!("nothing was ordered");
            }
            Ok(published)
        })
        .await
}
