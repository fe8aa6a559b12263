//! The same promises through every driver: what commits is delivered, what is rolled back is not, and a repeat leaves the transaction
//! usable. (Those of sqlx's own transaction are with the library's tests.)

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../../../crates/posthaste/tests/postgres/database.rs"]
mod database;

mod deadpool_postgres;
mod diesel_async;
mod fixture;
mod pooler;
mod sea_orm;
mod tokio_postgres;
