//! What publishing adds to a transaction.

use std::time::Instant;

use posthaste::{Result, sqlite};

use crate::{
    median,
    report::Publish,
    shop::{Shop, small_event, unexpected},
};

const TRANSACTIONS: u64 = 2_000;
const BULK: u64 = 200_000;

pub(crate) async fn measure(rounds: usize) -> Result<Publish> {
    let (mut without, mut with, mut bulk) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds.max(1) {
        let shop = Shop::open().await?;
        without.push(rate(TRANSACTIONS, place_orders(&shop, false)).await?);
        with.push(rate(TRANSACTIONS, place_orders(&shop, true)).await?);
        bulk.push(rate(BULK, shop.fill(BULK)).await?);
    }
    Ok(Publish { without_outbox: median(without), with_outbox: median(with), bulk: median(bulk) })
}

async fn rate(count: u64, work: impl Future<Output = Result<()>>) -> Result<f64> {
    let began = Instant::now();
    work.await?;
    Ok(count as f64 / began.elapsed().as_secs_f64())
}

async fn place_orders(shop: &Shop, publish: bool) -> Result<()> {
    for number in 0..TRANSACTIONS {
        let mut tx = sqlite::begin(&shop.pool).await?;
        sqlx::query("insert into orders (customer, amount) values (?1, ?2)")
            .bind(format!("customer-{number}"))
            .bind(7)
            .execute(&mut *tx)
            .await
            .map_err(unexpected("insert an order"))?;
        if publish {
            let staged = shop.outbox.publish(&mut tx, small_event(number)).await?;
            shop.outbox.commit(tx, staged).await?;
        } else {
            tx.commit().await.map_err(unexpected("commit"))?;
        }
    }
    Ok(())
}
