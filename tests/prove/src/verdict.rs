//! The verdict: what was committed, by the database's own table, against what Kafka gave out.

use std::{
    collections::{BTreeSet, HashSet},
    path::PathBuf,
};

use anyhow::{Context, Result};
use posthaste_core::{EventId, Lane, Position, Timestamp};
use posthaste_testkit::history::{Committed, History, Received, Report, SubscriptionHistory, check};
use sqlx::{ConnectOptions, PgConnection, Row, postgres::PgConnectOptions};

use crate::record::{self, End, Transaction};

/// What the database has at the end.
pub(crate) struct Facts {
    pub(crate) committed: Vec<Committed>,
    pub(crate) dead: i64,
    pub(crate) parked: i64,
    pub(crate) failed_attempts: i64,
}

impl Facts {
    pub(crate) async fn gather(database: &str) -> Result<Self> {
        let mut connection = database.parse::<PgConnectOptions>()?.connect().await?;
        let rows =
            sqlx::query("select id::text, position, outbox_lane(key, id), key from outbox order by position")
                .fetch_all(&mut connection)
                .await?;
        let committed = rows
            .iter()
            .map(|row| {
                let id: &str = row.try_get(0)?;
                Ok(Committed {
                    id: id.parse().map_err(|_| anyhow::anyhow!("{id} is no id"))?,
                    position: Position(row.try_get(1)?),
                    lane: Lane(u8::try_from(row.try_get::<i16, _>(2)?)?),
                    key: row.try_get(3)?,
                    deliver_after: None,
                })
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            committed,
            dead: count(&mut connection, "select count(*) from outbox_dead").await?,
            parked: count(&mut connection, "select count(*) from outbox_parked").await?,
            failed_attempts: count(
                &mut connection,
                "select count(*) from outbox_journal where what in ('failed', 'dead')",
            )
            .await?,
        })
    }

    pub(crate) fn ids(&self) -> Vec<EventId> {
        self.committed.iter().map(|event| event.id).collect()
    }
}

async fn count(connection: &mut PgConnection, sql: &'static str) -> Result<i64> {
    Ok(sqlx::query(sql).fetch_one(connection).await?.try_get(0)?)
}

/// What the publishers say.
pub(crate) struct Books {
    transactions: Vec<Transaction>,
}

impl Books {
    pub(crate) fn read(paths: &[PathBuf]) -> Result<Self> {
        let mut transactions = Vec::new();
        for path in paths {
            transactions.extend(record::read(path)?);
        }
        Ok(Self { transactions })
    }

    pub(crate) fn count(&self, end: End) -> usize {
        self.transactions.iter().filter(|transaction| transaction.end == end).count()
    }

    /// Events that the database confirmed and does not have. (Then PostgreSQL has lost them, not we.)
    pub(crate) fn missing(&self, facts: &Facts) -> Result<usize> {
        let there: HashSet<EventId> = facts.committed.iter().map(|event| event.id).collect();
        let confirmed = self.transactions.iter().filter(|transaction| transaction.end == End::Committed);
        let ids = confirmed.flat_map(|transaction| &transaction.ids);
        Ok(parse(ids)?.iter().filter(|id| !there.contains(id)).count())
    }

    /// Events that nobody may ever see.
    fn rolled_back(&self) -> Result<BTreeSet<EventId>> {
        let undone = self.transactions.iter().flat_map(|transaction| &transaction.undone);
        let given_up = self.transactions.iter().filter(|transaction| transaction.end == End::RolledBack);
        parse(undone.chain(given_up.flat_map(|transaction| &transaction.ids)))
    }
}

fn parse<'a>(ids: impl Iterator<Item = &'a String>) -> Result<BTreeSet<EventId>> {
    ids.map(|id| id.parse().ok().context("a book has an id that is none")).collect()
}

/// Judges what was received, allowing so many repeats.
pub(crate) fn judge(
    facts: &Facts,
    books: &Books,
    received: &[EventId],
    repeats_allowed: u64,
) -> Result<Report> {
    let received = received.iter().map(|id| Received { id: *id, relay: None, at: Timestamp(0) }).collect();
    Ok(check(&History {
        committed: facts.committed.clone(),
        rolled_back: books.rolled_back()?,
        subscriptions: vec![SubscriptionHistory {
            name: "ledger".to_owned(),
            received,
            repeats_allowed: Some(repeats_allowed),
            finished: true,
            ..SubscriptionHistory::default()
        }],
    }))
}
