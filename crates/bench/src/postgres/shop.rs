//! The database that is measured: a schema of its own, with an outbox and tables of the application's.

use std::{str::FromStr, sync::Arc, time::Duration};

use posthaste::{Error, ErrorKind, Outbox, Result};
use posthaste_postgres::{PgPool, PostgresLog, PostgresOptions};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Row,
    postgres::{PgConnectOptions, PgPoolOptions},
};

const SCHEMA: &str = "posthaste_bench";

/// A shop in a schema that is removed at the end, and at the beginning if the last run left one.
pub(crate) struct Shop {
    pub(crate) url: String,
    schema: &'static str,
    pub(crate) pool: PgPool,
    pub(crate) log: Arc<PostgresLog>,
}

impl Shop {
    pub(crate) async fn open(url: &str) -> Result<Self> {
        Self::open_in(url, SCHEMA).await
    }

    /// One beside the others, in a schema of this name.
    pub(crate) async fn open_in(url: &str, schema: &'static str) -> Result<Self> {
        let pool = connect(url, schema).await?;
        run(&pool, format!("drop schema if exists {schema} cascade; create schema {schema}")).await?;
        let log = Arc::new(PostgresLog::open(url, options(schema, true)).await?);
        run(&pool, include_str!("classic.sql").to_owned()).await?;
        Ok(Self { url: url.to_owned(), schema, pool, log })
    }

    /// Further connections to it, of the runtime that waits for them.
    pub(crate) fn connect(&self) -> impl Future<Output = Result<PgPool>> + Send + use<> {
        let (url, schema) = (self.url.clone(), self.schema);
        async move { connect(&url, schema).await }
    }

    /// Another handle on the same log, with connections of its own, as another process would have.
    pub(crate) async fn another(&self) -> Result<Arc<PostgresLog>> {
        Ok(Arc::new(PostgresLog::open(&self.url, options(self.schema, false)).await?))
    }

    /// The same outbox as an application has it.
    pub(crate) async fn outbox(&self) -> Result<Outbox> {
        Outbox::builder(&self.url).schema(self.schema).without_migration().open().await
    }

    /// Publishes so many events of about 120 bytes, with 1,000 keys, 10,000 to a transaction, by plain SQL.
    pub(crate) async fn fill(&self, events: u64) -> Result<()> {
        const STEP: u64 = 10_000;
        for first in (0..events).step_by(STEP as usize) {
            sqlx::query(
                "insert into outbox (topic, event_type, key, checked, payload)
                 select 'orders', 'order.placed', 'customer-' || to_char(n % 1000, 'fm00000'), true,
                   '{\"order\":' || n || ',\"customer\":\"customer-' || to_char(n % 1000, 'fm00000') || '\",\"amount\":'
                   || n % 9973 || ',\"currency\":\"EUR\",\"note\":\"' || repeat('x', 32) || '\"}'
                 from generate_series($1::bigint, $2::bigint) n",
            )
            .bind(i64::try_from(first).unwrap_or(i64::MAX))
            .bind(i64::try_from(events.min(first + STEP) - 1).unwrap_or(i64::MAX))
            .execute(&self.pool)
            .await
            .map_err(failed("publish"))?;
        }
        // Of everything, also of what was measured before: the server would do it soon, in the middle of the next measurement.
        run(&self.pool, "vacuum analyze".to_owned()).await?;
        run(&self.pool, "checkpoint".to_owned()).await
    }

    /// Dead rows in all tables of the outbox, as the server counts them.
    pub(crate) async fn dead_rows(&self) -> Result<i64> {
        // The server's counters are a moment behind.
        run(&self.pool, "select pg_stat_clear_snapshot()".to_owned()).await?;
        let row = sqlx::query(
            "select coalesce(sum(n_dead_tup), 0)::bigint from pg_stat_user_tables where schemaname = $1 and relname like 'outbox%'",
        )
        .bind(self.schema)
        .fetch_one(&self.pool)
        .await
        .map_err(failed("count dead rows"))?;
        row.try_get(0).map_err(failed("count dead rows"))
    }

    pub(crate) async fn close(self) -> Result<()> {
        run(&self.pool, format!("drop schema if exists {} cascade", self.schema)).await
    }
}

/// Connections that see the shop's tables.
async fn connect(url: &str, schema: &str) -> Result<PgPool> {
    let schema = format!("set search_path to {schema}");
    let options = PgPoolOptions::new().max_connections(16).acquire_timeout(Duration::from_secs(60));
    let options = options.after_connect(move |connection, _| {
        let schema = schema.clone();
        Box::pin(async move { sqlx::raw_sql(AssertSqlSafe(schema)).execute(connection).await.map(drop) })
    });
    let connect = PgConnectOptions::from_str(url).map_err(failed("understand the address"))?;
    // What takes long here is meant to.
    options.connect_with(connect.disable_statement_logging()).await.map_err(failed("open the database"))
}

fn options(schema: &str, migrate: bool) -> PostgresOptions {
    PostgresOptions { schema: Some(schema.to_owned()), migrate, ..PostgresOptions::default() }
}

/// Runs statements of this crate.
pub(crate) async fn run(pool: &PgPool, sql: String) -> Result<()> {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(pool).await.map_err(failed("prepare the database"))?;
    Ok(())
}

pub(crate) fn failed<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
    what: &'static str,
) -> impl FnOnce(E) -> Error {
    move |error| Error::new(ErrorKind::Unexpected, what).with_source(error)
}
