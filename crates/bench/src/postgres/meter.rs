//! Who used how much of the processor: this process, PostgreSQL's and Kafka's, as the kernel tells it, if they are on this machine.

use std::{collections::HashSet, fs, path::Path};

use posthaste::Result;
use posthaste_postgres::PgPool;
use sqlx::Row;

use super::{
    report::Cost,
    shop::{Shop, failed},
};
use crate::memory::{cpu_micros, peak_mb, reset_peak};

pub(crate) struct Meter {
    pool: PgPool,
    /// PostgreSQL's first process.
    postgres: Option<u32>,
    kafka: Option<u32>,
}

/// A reading of all meters.
pub(crate) struct Reading {
    own: Option<f64>,
    postgres: Option<f64>,
    kafka: Option<f64>,
    written: i64,
}

impl Meter {
    pub(crate) async fn new(shop: &Shop, brokers: Option<&str>) -> Result<Self> {
        let row = sqlx::query("select pg_backend_pid()").fetch_one(&shop.pool).await;
        let backend: i32 = row.and_then(|row| row.try_get(0)).map_err(failed("ask for the process"))?;
        let postgres = u32::try_from(backend).ok().and_then(Process::read).map(|process| process.parent);
        let port = brokers.and_then(|brokers| brokers.split(',').next()?.rsplit(':').next()?.parse().ok());
        Ok(Self { pool: shop.pool.clone(), postgres, kafka: port.and_then(listener) })
    }

    pub(crate) async fn start(&self) -> Result<Reading> {
        reset_peak();
        self.read().await
    }

    async fn read(&self) -> Result<Reading> {
        let row =
            sqlx::query("select (pg_current_wal_insert_lsn() - '0/0')::bigint").fetch_one(&self.pool).await;
        Ok(Reading {
            own: cpu_micros(),
            postgres: self.postgres.map(family_micros),
            kafka: self.kafka.and_then(Process::read).map(|process| process.micros),
            written: row.and_then(|row| row.try_get(0)).map_err(failed("ask for the log position"))?,
        })
    }

    /// What was used since, for each of so many events.
    pub(crate) async fn stop(&self, before: Reading, events: u64) -> Result<Cost> {
        let after = self.read().await?;
        let each = |before: Option<f64>, after: Option<f64>| {
            before.zip(after).map(|(before, after)| (after - before) / events as f64)
        };
        Ok(Cost {
            relay_micros: each(before.own, after.own),
            postgres_micros: each(before.postgres, after.postgres),
            kafka_micros: each(before.kafka, after.kafka),
            peak_rss_mb: peak_mb(),
            wal_bytes: (after.written - before.written) as f64 / events as f64,
        })
    }
}

/// One process, by `/proc`.
struct Process {
    parent: u32,
    /// With what its ended children used.
    micros: f64,
}

impl Process {
    fn read(pid: u32) -> Option<Self> {
        const TICK_MICROS: f64 = 10_000.0;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |index: usize| fields.get(index)?.parse::<f64>().ok();
        let used = ticks(11)? + ticks(12)? + ticks(13)? + ticks(14)?;
        Some(Self { parent: fields.get(1)?.parse().ok()?, micros: used * TICK_MICROS })
    }
}

/// A process and its children.
fn family_micros(parent: u32) -> f64 {
    let children = pids().filter_map(Process::read).filter(|process| process.parent == parent);
    Process::read(parent).map_or(0.0, |process| process.micros)
        + children.map(|process| process.micros).sum::<f64>()
}

fn pids() -> impl Iterator<Item = u32> {
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    folders.filter_map(|folder| folder.file_name().to_str()?.parse().ok())
}

/// The process that listens at this port of this machine.
fn listener(port: u16) -> Option<u32> {
    const LISTENS: &str = "0A";
    let sockets: HashSet<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| {
            let rows = table
                .lines()
                .skip(1)
                .map(|row| row.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
            rows.filter(|row| row.len() > 9 && row[3] == LISTENS && row[1].ends_with(&format!(":{port:04X}")))
                .map(|row| format!("socket:[{}]", row[9]))
                .collect::<Vec<_>>()
        })
        .collect();
    pids().find(|pid| {
        let open =
            fs::read_dir(Path::new("/proc").join(pid.to_string()).join("fd")).into_iter().flatten().flatten();
        open.filter_map(|file| fs::read_link(file.path()).ok())
            .any(|target| target.to_str().is_some_and(|target| sockets.contains(target)))
    })
}
