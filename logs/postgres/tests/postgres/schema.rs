//! A schema for each test, gone when the test ends. What a killed run left behind is removed by the next one.
//!
//! To make all tables anew takes longer than most cases of the conformance suite, so that its schemas are emptied and used again.

use std::{
    sync::{
        LazyLock, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use posthaste_services::postgres_url;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::runtime;

/// A schema that nobody else uses.
pub(crate) struct Schema {
    pub(crate) name: String,
    after: After,
}

/// What becomes of a schema when its test is over.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Removed,
    UsedAgain,
}

impl Schema {
    /// One that is not there yet.
    pub(crate) fn new() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        Self { name: format!("t_{}_{number}", KEEPER.run), after: After::Removed }
    }

    /// One that may have empty tables, and is not to be changed but in its rows.
    pub(crate) fn reused() -> Self {
        let spare = KEEPER.spare().pop().map(|name| Self { name, after: After::UsedAgain });
        let mut schema = spare.unwrap_or_else(Self::new);
        schema.after = After::UsedAgain;
        schema
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let (done, wait) = sync_channel(1);
        // Nobody knows what a test that failed has left behind.
        let after = if thread::panicking() { After::Removed } else { self.after };
        let sent = KEEPER.orders.send((self.name.clone(), after, done)).is_ok();
        let done = sent && wait.recv().is_ok();
        assert!(done || thread::panicking(), "who removes schemas has failed; the next run removes them");
        if done && after == After::UsedAgain {
            KEEPER.spare().push(self.name.clone());
        }
    }
}

/// Removes schemas on a connection of its own. As long as it lives, its lock says that this run's schemas are in use.
struct Keeper {
    run: String,
    orders: SyncSender<Order>,
    spare: Mutex<Vec<String>>,
}

impl Keeper {
    fn spare(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A schema, what becomes of it, and whom to tell that it is done.
type Order = (String, After, SyncSender<()>);

static KEEPER: LazyLock<Keeper> = LazyLock::new(|| {
    let (orders, ordered) = sync_channel(0);
    let run = format!("{:08x}", fastrand::u32(..));
    let (ready, wait) = sync_channel(1);
    let (url, named) = (postgres_url(), run.clone());
    thread::spawn(move || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(keep(&url, &named, &ready, &ordered));
    });
    wait.recv().expect("POSTHASTE_TEST_POSTGRES names a server that answers");
    Keeper { run, orders, spare: Mutex::default() }
});

async fn keep(url: &str, run: &str, ready: &SyncSender<()>, ordered: &Receiver<Order>) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    assert!(lock(&mut connection, run).await);
    sweep(&mut connection).await;
    ready.send(()).unwrap();
    while let Ok((schema, after, done)) = ordered.recv() {
        end_others(&mut connection, &schema).await;
        match after {
            After::Removed => remove(&mut connection, &schema).await,
            After::UsedAgain => empty(&mut connection, &schema).await,
        }
        let _ = done.send(());
    }
}

/// Whether nobody else has this run's lock.
async fn lock(connection: &mut PgConnection, run: &str) -> bool {
    let locked = sqlx::query_scalar("select pg_try_advisory_lock(hashtextextended($1, 2408))").bind(run);
    locked.fetch_one(connection).await.unwrap()
}

/// Removes the schemas of runs that are over.
async fn sweep(connection: &mut PgConnection) {
    let schemas =
        sqlx::query_scalar("select nspname::text from pg_namespace where nspname ~ '^t_[0-9a-f]{8}_'");
    let schemas: Vec<String> = schemas.fetch_all(&mut *connection).await.unwrap();
    for schema in schemas {
        let run = schema.split('_').nth(1).unwrap_or_default().to_owned();
        if lock(connection, &run).await {
            end_others(connection, &schema).await;
            remove(connection, &schema).await;
            let unlocked = sqlx::query("select pg_advisory_unlock(hashtextextended($1, 2408))").bind(run);
            unlocked.execute(&mut *connection).await.unwrap();
        }
    }
}

/// Ends whoever is still in the middle of something there: a test may have left a transaction open, or prepared.
async fn end_others(connection: &mut PgConnection, schema: &str) {
    let prepared = sqlx::query_scalar("select gid from pg_prepared_xacts where starts_with(gid, $1 || '.')");
    let prepared: Vec<String> = prepared.bind(schema).fetch_all(&mut *connection).await.unwrap();
    for name in prepared {
        let undone = format!("rollback prepared '{name}'");
        sqlx::raw_sql(AssertSqlSafe(undone)).execute(&mut *connection).await.unwrap();
    }
    let ended = sqlx::query(
        "select pg_terminate_backend(l.pid) from pg_locks l join pg_class c on c.oid = l.relation
         join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and l.pid <> pg_backend_pid()",
    );
    ended.bind(schema).execute(connection).await.unwrap();
}

/// Removes the schema, and the roles whose names begin with its name.
async fn remove(connection: &mut PgConnection, schema: &str) {
    let gone = format!(
        r#"set client_min_messages = warning; drop schema if exists "{schema}" cascade;
        do $$ declare name text; begin
          for name in select rolname from pg_roles where starts_with(rolname, '{schema}_') loop
            execute format('drop owned by %I; drop role %I', name, name);
          end loop;
        end $$"#
    );
    sqlx::raw_sql(AssertSqlSafe(gone)).execute(connection).await.unwrap();
}

async fn empty(connection: &mut PgConnection, schema: &str) {
    let emptied = format!(
        r#"set client_min_messages = warning; do $$ declare name text; begin
          alter table "{schema}".outbox_dead drop constraint if exists refused;
          for name in select tablename from pg_tables where schemaname = '{schema}' and tablename <> 'outbox_meta' loop
            execute format('delete from %I.%I', '{schema}', name);
          end loop;
          for name in select sequencename from pg_sequences where schemaname = '{schema}' loop
            execute format('alter sequence %I.%I restart', '{schema}', name);
          end loop;
          insert into "{schema}".outbox_snapshots (number, snapshot) values (0, '1:1:');
          delete from "{schema}".outbox_meta m
            where m.name not in ('schema_version', 'lanes', 'system_identifier');
        end $$"#
    );
    sqlx::raw_sql(AssertSqlSafe(emptied)).execute(connection).await.unwrap();
}
