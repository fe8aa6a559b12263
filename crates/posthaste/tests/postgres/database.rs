//! A database of its own for each test, gone when the test has passed.

use posthaste::postgres::PgConnection;
use sqlx::Connection;

/// A database on the server that the environment names.
pub(crate) struct Database {
    server: String,
    name: String,
}

impl Database {
    pub(crate) async fn create() -> Self {
        let server = std::env::var("POSTHASTE_TEST_POSTGRES").unwrap_or_else(|_| {
            panic!("set POSTHASTE_TEST_POSTGRES, or run `cargo xtask services up` and source what it prints")
        });
        let name = format!("posthaste_{}", uuid::Uuid::now_v7().simple());
        run(&server, format!("create database {name}")).await;
        Self { server, name }
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        let (server, _) = self.server.rsplit_once('/').unwrap();
        format!("{server}/{}", self.name)
    }

    /// Removes it. (Not when it is dropped: whoever waits there stops the test's runtime, with connections half open on which the server
    /// then waits in turn. What a test that failed leaves behind may tell why.)
    pub(crate) async fn close(mut self) {
        let name = std::mem::take(&mut self.name);
        // Whoever is still connected, such as a bell that was just rung, must not keep it.
        run(&self.server, format!("drop database {name} with (force)")).await;
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        assert!(self.name.is_empty() || std::thread::panicking(), "a test ends with close()");
    }
}

async fn run(url: &str, sql: String) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}
