//! A publisher: a process that changes accounts and publishes what it did, in one transaction, as a service in any language would.
//!
//! Writers of one key wait for each other on the account's row, so that the order of a key is known. Some transactions are rolled
//! back, some stay open for a while, some undo a part of themselves, and the first publisher has one that stays open very long.

use std::{
    path::PathBuf,
    str::FromStr,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use clap::Args;
use fastrand::Rng;
use sqlx::{ConnectOptions, Connection, PgConnection, Row, postgres::PgConnectOptions};
use tokio::{io::AsyncReadExt, task::JoinSet};

use crate::record::{Book, End, Transaction};

/// Accounts that all publishers share.
pub(crate) const KEYS: u32 = 200;

#[derive(Args)]
pub(crate) struct Options {
    /// The database
    #[arg(long)]
    database: String,
    /// Where to write down what happened
    #[arg(long)]
    book: PathBuf,
    /// Which publisher this is
    #[arg(long)]
    number: u64,
    /// For everything that is random
    #[arg(long)]
    seed: u64,
    /// How long one transaction of the first publisher stays open, in milliseconds
    #[arg(long)]
    long: u64,
}

/// Publishes until standard input ends, which it does when the director says so or dies.
pub(crate) async fn run(options: &Options) -> Result<()> {
    let mut publisher = Publisher {
        connect: PgConnectOptions::from_str(&options.database)?.disable_statement_logging(),
        connection: None,
        book: Book::open(&options.book)?,
        rng: Rng::with_seed(options.seed ^ (options.number << 32)),
    };
    let mut waiting = JoinSet::new();
    waiting.spawn(async { tokio::io::stdin().read_to_end(&mut Vec::new()).await });
    let long = Duration::from_millis(options.long);
    let mut long_one = (options.number == 0).then(|| Instant::now() + Duration::from_secs(2));
    while waiting.try_join_next().is_none() {
        let plan = if long_one.take_if(|at| *at <= Instant::now()).is_some() {
            Plan { keys: vec!["long".to_owned()], events: 5, stays_open: long, ..Plan::default() }
        } else {
            Plan::draw(&mut publisher.rng)
        };
        publisher.carry_out(&plan).await?;
    }
    Ok(())
}

/// One transaction.
#[derive(Default)]
struct Plan {
    /// The accounts, in the order in which everybody locks them.
    keys: Vec<String>,
    events: u32,
    stays_open: Duration,
    undoes_a_part: bool,
    rolls_back: bool,
}

impl Plan {
    fn draw(rng: &mut Rng) -> Self {
        let mut keys: Vec<u32> = (0..rng.u32(1..=2)).map(|_| rng.u32(..KEYS)).collect();
        keys.sort_unstable();
        keys.dedup();
        Self {
            keys: keys.iter().map(|key| format!("account-{key:03}")).collect(),
            events: rng.u32(1..=3),
            stays_open: Duration::from_millis(if rng.u8(..100) < 4 {
                rng.u64(50..600)
            } else {
                rng.u64(..4)
            }),
            undoes_a_part: rng.u8(..100) < 5,
            rolls_back: rng.u8(..100) < 12,
        }
    }
}

struct Publisher {
    connect: PgConnectOptions,
    connection: Option<PgConnection>,
    book: Book,
    rng: Rng,
}

impl Publisher {
    async fn carry_out(&mut self, plan: &Plan) -> Result<()> {
        let Some(mut connection) = self.connection().await else { return Ok(()) };
        let mut transaction = Transaction { end: End::RolledBack, ids: Vec::new(), undone: Vec::new() };
        transaction.end = match attempt(&mut connection, plan, &mut transaction).await {
            Ok(end) => {
                self.connection = Some(connection);
                end
            }
            // The server is gone or said no; what was not committed never was.
            Err(Failed::Before(_)) => End::RolledBack,
            Err(Failed::AtCommit(_)) => End::Unknown,
        };
        self.book.write(&transaction)
    }

    /// The connection; while the server is away, a little patience and nothing.
    async fn connection(&mut self) -> Option<PgConnection> {
        if let Some(connection) = self.connection.take() {
            return Some(connection);
        }
        let connected = self.connect.connect().await.ok();
        if connected.is_none() {
            tokio::time::sleep(Duration::from_millis(50 + self.rng.u64(..50))).await;
        }
        connected
    }
}

enum Failed {
    Before(#[expect(dead_code, reason = "seen in a debugger")] anyhow::Error),
    AtCommit(#[expect(dead_code, reason = "seen in a debugger")] sqlx::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Before(error.into())
    }
}

async fn attempt(connection: &mut PgConnection, plan: &Plan, told: &mut Transaction) -> Result<End, Failed> {
    let mut tx = connection.begin().await?;
    for key in &plan.keys {
        for _ in 0..plan.events {
            told.ids.push(publish(&mut tx, key).await?);
        }
    }
    if plan.undoes_a_part
        && let Some(key) = plan.keys.first()
    {
        let mut part = tx.begin().await?;
        told.undone.push(publish(&mut part, key).await?);
        part.rollback().await?;
        told.ids.push(publish(&mut tx, key).await?);
    }
    tokio::time::sleep(plan.stays_open).await;
    if plan.rolls_back {
        tx.rollback().await?;
        return Ok(End::RolledBack);
    }
    tx.commit().await.map_err(Failed::AtCommit)?;
    Ok(End::Committed)
}

/// Changes the account and publishes that: plain SQL, and nothing else.
async fn publish(connection: &mut PgConnection, key: &str) -> Result<String> {
    let row = sqlx::query(
        "with changed as (update accounts set changes = changes + 1 where id = $1 returning changes)
         insert into outbox (topic, event_type, key, payload)
         select 'accounts', 'account.changed', $1, json_build_object('account', $1, 'change', changes) from changed
         returning id::text",
    )
    .bind(key)
    .fetch_one(connection)
    .await?;
    row.try_get(0).context("an insert answers with the id")
}
