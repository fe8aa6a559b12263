//! Real servers for tests and measurements: found or installed, started on free ports, stopped with their owner.
//!
//! Tests ask for the servers that `cargo xtask services up` or `cargo xtask test` started, by [`postgres_url`] and the
//! other functions of their kind. Who wants to kill a server starts one of its own: [`postgres::Postgres`],
//! [`pgbouncer::PgBouncer`], [`kafka::Kafka`]. A server's folder holds everything it has, so that starting it again
//! in the same folder is the same server, at the same address, after a crash.

mod variables;

#[cfg(unix)]
pub mod chromium;
#[cfg(unix)]
mod daemon;
#[cfg(unix)]
mod guard;
#[cfg(unix)]
pub mod kafka;
#[cfg(unix)]
mod lookup;
#[cfg(unix)]
mod packages;
#[cfg(unix)]
pub mod pgbouncer;
#[cfg(unix)]
mod ports;
#[cfg(unix)]
pub mod postgres;
#[cfg(unix)]
pub mod process;
#[cfg(unix)]
mod progress;
#[cfg(unix)]
mod user;

#[cfg(unix)]
pub use progress::say;
pub use variables::*;
