//! A PostgreSQL server of a test's own, to be killed.

use posthaste_core::{Log, Subscription};
use posthaste_postgres::{PostgresLog, PostgresOptions};
use posthaste_services::postgres::{Installation, Postgres, StopMode};
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;

use crate::fixture::{LANES, SUB, number, run};

pub(crate) struct Cluster {
    server: Postgres,
    pub(crate) installation: Installation,
    // Last, so that it goes when the server has gone.
    _folder: TempDir,
}

impl Cluster {
    /// An empty cluster whose write-ahead log reaches the disk only with a commit: what else is written just before a crash is lost.
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let installation = Installation::given().unwrap();
        // One folder down: root's temporary folders are closed to the user that PostgreSQL runs as.
        let server = Postgres::start(&installation, &folder.path().join("postgres")).unwrap();
        let cluster = Self { server, installation, _folder: folder };
        cluster.run("alter system set wal_writer_delay = '10s'").await;
        cluster.run("select pg_reload_conf()").await;
        cluster
    }

    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    pub(crate) fn restart(&mut self, mode: StopMode) {
        self.server.restart(mode).unwrap();
    }

    pub(crate) fn options() -> PostgresOptions {
        PostgresOptions { lanes: Some(LANES), migrate: true, ..PostgresOptions::default() }
    }

    /// A log with the subscription, from the beginning.
    pub(crate) async fn log(&self) -> PostgresLog {
        let log = PostgresLog::open(&self.url(), Self::options()).await.unwrap();
        log.subscribe(&Subscription::new(SUB)).await.unwrap();
        log
    }

    pub(crate) async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url()).await.unwrap()
    }

    pub(crate) async fn run(&self, sql: &str) {
        run(&mut self.connect().await, sql).await.unwrap();
    }

    pub(crate) async fn number(&self, sql: &str) -> i64 {
        number(&mut self.connect().await, sql).await
    }

    /// Publishes one event, and answers its position.
    pub(crate) async fn publish(&self) -> i64 {
        let insert = "insert into outbox (topic, event_type, key, payload) values ('t', 'e', 'k', '1') returning position";
        self.number(insert).await
    }

    /// Uses this many transaction ids up, in a way that nothing on the disk tells of.
    pub(crate) async fn use_ids_up(&self, count: usize) {
        let mut connection = self.connect().await;
        for _ in 0..count {
            run(&mut connection, "begin; select pg_current_xact_id(); rollback").await.unwrap();
        }
    }

    /// The next transaction id, or a little more.
    pub(crate) async fn next_id(&self) -> i64 {
        self.number("select pg_snapshot_xmax(pg_current_snapshot())::text::bigint").await
    }
}
