//! The stage: PostgreSQL, Kafka, relays, publishers and a consumer, all real, all in one temporary folder.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result};
use posthaste_services::{kafka, kafka::Kafka, postgres, postgres::Postgres};
use sqlx::{ConnectOptions, Executor, postgres::PgConnectOptions};

use crate::{
    consumer::{Consumer, TOPIC, create_topic},
    publisher::KEYS,
    relay::{BATCH, LEASE_SECONDS, Relay},
};

const RELAYS: usize = 3;
const PUBLISHERS: usize = 8;

pub(crate) struct Stage {
    // Stopped in this order.
    pub(crate) publishers: Publishers,
    pub(crate) relays: Vec<Relay>,
    pub(crate) consumer: Consumer,
    pub(crate) kafka: Kafka,
    pub(crate) postgres: Postgres,
}

impl Stage {
    /// Starts the servers and the relays, and then the publishers.
    pub(crate) async fn set(
        program: &Path,
        cache: &Path,
        folder: &Path,
        seed: u64,
        long: Duration,
    ) -> Result<Self> {
        let postgres =
            Postgres::start(&postgres::Installation::find_or_install()?, &folder.join("postgres"))?;
        let kafka = Kafka::start(&kafka::Installation::find_or_install(cache)?, &folder.join("kafka"))?;
        create_topic(&kafka.bootstrap()).await?;
        migrate(program, &postgres.url())?;
        open_accounts(&postgres.url()).await?;
        let consumer = Consumer::start(&kafka.bootstrap())?;
        let config = folder.join("relay.yaml");
        std::fs::write(&config, configuration(&postgres.url(), &kafka.bootstrap()))?;
        let relays = (0..RELAYS)
            .map(|number| Relay::start(program, &config, folder.join(format!("relay-{number}.log"))))
            .collect::<Result<_>>()?;
        let publishers = Publishers::start(&postgres.url(), folder, seed, long)?;
        Ok(Self { publishers, relays, consumer, kafka, postgres })
    }
}

fn migrate(program: &Path, database: &str) -> Result<()> {
    let done =
        Command::new(program).args(["migrate", "--database", database]).stdout(Stdio::null()).status()?;
    anyhow::ensure!(done.success(), "posthaste migrate failed");
    Ok(())
}

async fn open_accounts(database: &str) -> Result<()> {
    let mut connection = database.parse::<PgConnectOptions>()?.connect().await?;
    connection
        .execute("create table accounts (id text primary key, changes bigint not null default 0)")
        .await
        .context("cannot create the accounts")?;
    let names: Vec<String> =
        (0..KEYS).map(|key| format!("account-{key:03}")).chain(["long".to_owned()]).collect();
    sqlx::query("insert into accounts (id) select unnest($1::text[])")
        .bind(names)
        .execute(&mut connection)
        .await?;
    Ok(())
}

fn configuration(database: &str, brokers: &str) -> String {
    format!(
        "database:\n  url: {database}\nrelay:\n  lease: {LEASE_SECONDS}s\n  batch: {BATCH}\nsubscriptions:\n  - name: ledger\n    \
         sink:\n      kafka:\n        brokers: {brokers}\n        topic: {TOPIC}\n"
    )
}

/// The publishers, processes of their own.
pub(crate) struct Publishers {
    children: Vec<Child>,
    books: Vec<PathBuf>,
}

impl Publishers {
    fn start(database: &str, folder: &Path, seed: u64, long: Duration) -> Result<Self> {
        let me = std::env::current_exe()?;
        let mut publishers = Self { children: Vec::new(), books: Vec::new() };
        for number in 0..PUBLISHERS {
            let book = folder.join(format!("publisher-{number}.jsonl"));
            let child = Command::new(&me)
                .args(["publish", "--database", database, "--number", &number.to_string()])
                .args(["--seed", &seed.to_string(), "--long", &long.as_millis().to_string()])
                .arg("--book")
                .arg(&book)
                .stdin(Stdio::piped())
                .spawn()
                .context("cannot start a publisher")?;
            publishers.children.push(child);
            publishers.books.push(book);
        }
        Ok(publishers)
    }

    /// Lets each finish its transaction, and answers where they wrote down what they did.
    pub(crate) fn finish(&mut self) -> Result<Vec<PathBuf>> {
        for child in &mut self.children {
            drop(child.stdin.take());
        }
        for mut child in self.children.drain(..) {
            anyhow::ensure!(child.wait()?.success(), "a publisher failed");
        }
        Ok(std::mem::take(&mut self.books))
    }
}

impl Drop for Publishers {
    fn drop(&mut self) {
        for child in &mut self.children {
            _ = child.kill();
            _ = child.wait();
        }
    }
}
