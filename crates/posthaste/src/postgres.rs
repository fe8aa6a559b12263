//! PostgreSQL: publishing inside a transaction of the driver that the application has.
//!
//! Needs the feature `postgres`; an application that uses nothing else says
//!
//! ```toml
//! posthaste = { version = "0.1", default-features = false, features = ["postgres"] }
//! ```
//!
//! and opens its outbox with `Outbox::open("postgres://user:password@host/shop")`. Whatever the driver, an event is one statement
//! in the application's own transaction, and nothing else of the application's connection is touched.
//!
//! | the application has | feature | publish with | and then |
//! |---|---|---|---|
//! | `sqlx::Transaction<Postgres>` | `postgres` | `&mut tx` | `outbox.commit(tx, staged)`, or `outbox.transaction(&pool, …)` for all of it |
//! | `sqlx::PgConnection` in a transaction | `postgres` | `&mut InTransaction::of(connection)?` | commit, `staged.dispatch()` |
//! | `tokio_postgres::Transaction` | `tokio-postgres` | `&mut tx` | `outbox.commit(tx, staged)` |
//! | `deadpool_postgres::Transaction` | `tokio-postgres` | `&mut *tx` | commit, `staged.dispatch()` |
//! | `diesel_async::AsyncPgConnection` in `transaction(…)` | `diesel-async` | `&mut InTransaction::of(connection)?` | `staged.dispatch()` behind it |
//! | `sea_orm::DatabaseTransaction` | `sea-orm` | `&mut tx` | `outbox.commit(tx, staged)`, or `outbox.transaction(&database, …)` |
//!
//! [`Transaction`](crate::Transaction) has an example for each of them. With sqlx:
//!
//! ```no_run
//! use posthaste::{Event, Outbox, event_types, postgres};
//!
//! event_types! { pub enum OrderEvent { Placed = "order.placed" } }
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! let url = "postgres://user:password@localhost/shop";
//! let outbox = Outbox::open(url).await?;
//! // Or a pool that the application has already.
//! let pool = postgres::pool(url).await?;
//!
//! let mut tx = pool.begin().await?;
//! sqlx::query("insert into orders (id) values ($1)").bind(7).execute(&mut *tx).await?;
//! let placed = Event::of(OrderEvent::Placed).aggregate("order", 7).json(&7)?;
//! let staged = outbox.publish(&mut tx, placed).await?;
//! outbox.commit(tx, staged).await?;
//!
//! // Or, so that nothing can be forgotten:
//! outbox
//!     .transaction(&pool, async |tx| {
//!         sqlx::query("insert into orders (id) values ($1)").bind(8).execute(&mut ***tx).await?;
//!         tx.publish(Event::of(OrderEvent::Placed).aggregate("order", 8).json(&8)?).await?;
//!         Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
//!     })
//!     .await?;
//! # Ok(()) }
//! ```
//!
//! What is no transaction does not compile:
//!
//! ```compile_fail,E0277
//! # async fn refuses_a_pool(outbox: posthaste::Outbox, mut pool: posthaste::postgres::PgPool) {
//! outbox.publish(&mut pool, posthaste::Event::of("order.placed").bytes("x", "text/plain")).await;
//! # }
//! ```
//!
//! ```compile_fail,E0277
//! # async fn refuses_a_connection(outbox: posthaste::Outbox, mut connection: posthaste::postgres::PgConnection) {
//! outbox.publish(&mut connection, posthaste::Event::of("order.placed").bytes("x", "text/plain")).await;
//! # }
//! ```
//!
//! ## After the commit
//!
//! `staged.dispatch()` and `outbox.commit(…)` wake the relay in this process at once, and those in other processes by one `NOTIFY` for
//! many commits. It is sent after the commit and on a connection of its own, because inside a transaction it would make all
//! publishers wait for each other. Where the relay in this process is the only one that is alive, there is no `NOTIFY`. An application
//! without a relay needs nothing more than this.
//!
//! ## Behind a pooler
//!
//! Where the application reaches the database through PgBouncer in transaction mode, it opens its outbox with
//! [`behind_a_pooler`](crate::OutboxBuilder::behind_a_pooler). Publishing then leaves no prepared statement behind, with sqlx as with tokio-postgres.
//! diesel-async and SeaORM name their prepared statements themselves; they need a PgBouncer that keeps track of them
//! (`max_prepared_statements`, from 1.21 on).
//!
//! ## Encryption
//!
//! The log's connections are sqlx's, and sqlx has encryption only if some crate of the program enables one of its `tls-…` features. Without it an
//! address with `sslmode=require` is refused.

pub use posthaste_postgres::{PgConnection, PgPool, PgTransaction, begin, pool};

pub use crate::transaction::postgres::{InTransaction, TracksTransactions};
