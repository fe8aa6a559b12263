//! A database of its own in the PostgreSQL server of the tests, and the program run on it.

use std::ops::Deref;

use posthaste_services::postgres_url;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::runtime::{Builder, Runtime};
use url::Url;

use crate::fixture::Fixture;

/// A folder, and a database that goes with it.
pub(crate) struct Server {
    folder: Fixture,
    runtime: Runtime,
    /// The database, as a superuser.
    url: Url,
    name: String,
}

impl Server {
    /// A database without tables.
    pub(crate) fn empty() -> Self {
        let name = format!("posthaste_cli_{:016x}", fastrand::u64(..));
        let mut url: Url = postgres_url().parse().unwrap();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        execute(&runtime, url.as_str(), &format!("create database {name}"));
        url.set_path(&name);
        Self { folder: Fixture::empty(), runtime, url, name }
    }

    /// A database with the tables.
    pub(crate) fn migrated() -> Self {
        let server = Self::empty();
        server.run(&["migrate", "--database", server.url()]).succeeded();
        server
    }

    /// Its address, as a superuser.
    pub(crate) fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Its address with something changed.
    pub(crate) fn url_with(&self, change: impl FnOnce(&mut Url)) -> String {
        let mut url = self.url.clone();
        change(&mut url);
        url.into()
    }

    /// `host:port` of the server.
    pub(crate) fn address(&self) -> String {
        format!("{}:{}", self.url.host_str().unwrap(), self.url.port().unwrap_or(5432))
    }

    pub(crate) fn sql(&self, statements: &str) {
        execute(&self.runtime, self.url(), statements);
    }

    /// The numbers in the first column of a query's answer.
    pub(crate) fn numbers(&self, query: &str) -> Vec<i64> {
        self.runtime.block_on(async {
            let mut connection = PgConnection::connect(self.url()).await.unwrap();
            let numbers = sqlx::query_scalar(AssertSqlSafe(query)).fetch_all(&mut connection).await.unwrap();
            connection.close().await.unwrap();
            numbers
        })
    }

    /// Publishes so many events by plain SQL, of so many keys.
    pub(crate) fn publish(&self, events: u32, keys: u32) {
        self.sql(&format!(
            "insert into outbox (topic, event_type, key, payload)
             select 'orders', 'order.changed', 'order-' || (i % {keys}), json_build_object('n', i)::text
             from generate_series(1, {events}) as i order by i"
        ));
    }

    /// How many lanes of a subscription each relay holds, the fewest first.
    pub(crate) fn held(&self, subscription: &str) -> Vec<i64> {
        self.numbers(&format!(
            "select count(*) from (
               select distinct on (lane) kind, relay from outbox_lines
               where subscription = '{subscription}' order by lane, n desc
             ) last where kind in ('taken', 'settled') group by relay order by count(*)"
        ))
    }

    pub(crate) fn status(&self) -> Value {
        let ran = self.run(&["status", "--database", self.url(), "--json"]);
        serde_json::from_str(&ran.succeeded().out).unwrap()
    }
}

impl Deref for Server {
    type Target = Fixture;

    fn deref(&self) -> &Fixture {
        &self.folder
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let name = &self.name;
        execute(&self.runtime, &postgres_url(), &format!("drop database if exists {name} with (force)"));
    }
}

fn execute(runtime: &Runtime, url: &str, statements: &str) {
    runtime.block_on(async {
        let mut connection = PgConnection::connect(url).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(statements)).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
    });
}
