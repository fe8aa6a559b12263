//! A transactional outbox: an event is published inside your own database transaction, or not at all; Posthaste
//! delivers it, at least once and in order per key.
//!
//! ```
//! use posthaste::{Event, Outbox, event_types, sqlite};
//!
//! event_types! { pub enum UserEvent { Created = "user.created" } }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let url = format!("sqlite://{}", folder.path().join("shop.db").display());
//! # let (heard, mut hears) = tokio::sync::mpsc::channel(1);
//! let outbox = Outbox::open(&url).await?;
//! let relay = outbox
//!     .relay()
//!     .listen(UserEvent::Created, move |event| {
//! #       let heard = heard.clone();
//!         async move {
//!             println!("{} was created", event.aggregate_id.as_deref().unwrap_or("somebody"));
//! #           heard.send(()).await?;
//!             Ok(())
//!         }
//!     })
//!     .start()
//!     .await?;
//!
//! let pool = sqlite::pool(&url).await?;
//! let mut tx = sqlite::begin(&pool).await?;
//! // … your own statements, in the same transaction …
//! let event = Event::of(UserEvent::Created).aggregate("user", "42").json(&"Ada")?;
//! let staged = outbox.publish(&mut tx, event).await?;
//! tx.commit().await?;
//! staged.dispatch();
//! # hears.recv().await;
//! relay.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! SQLite is there by default. PostgreSQL has the feature `postgres`, and publishing in transactions of other drivers than sqlx
//! one feature each: `tokio-postgres`, `diesel-async` and `sea-orm`. The module `postgres` tells how.
//!
//! Publishing outside a transaction does not compile: only transactions implement [`Transaction`].
//!
//! ```compile_fail
//! # async fn refuses_a_pool(outbox: posthaste::Outbox, mut pool: posthaste::sqlite::SqlitePool) {
//! outbox.publish(&mut pool, posthaste::Event::of("user.created").bytes("x", "text/plain")).await;
//! # }
//! ```
//!
//! ```compile_fail
//! # async fn refuses_a_connection(outbox: posthaste::Outbox, mut connection: posthaste::sqlite::SqliteConnection) {
//! outbox.publish(&mut connection, posthaste::Event::of("user.created").bytes("x", "text/plain")).await;
//! # }
//! ```

mod ids;
mod outbox;
mod place;
#[cfg(feature = "postgres")]
pub mod postgres;
mod publisher;
mod registry;
mod relay;
mod staged;
mod transaction;
mod unit_of_work;

pub use posthaste_core::{
    ActKind, Admin, AggregateType, AuditEntry, AuditFilter, Capabilities, Clock, Cursor, DeadFilter,
    DeadGroup, DeadLetter, DeadReason, Delivery, Diagnose, Edit, Entry, Error, ErrorKind, ErrorText, Event,
    EventBuilder, EventFilter, EventId, EventRules, EventStatus, EventSummary, EventType, Fault, FaultKind,
    Filter, Finding, Foreseen, Inspect, IntoEvent, Job, JobKind, JobRequest, JobState, Jobs, Lane,
    LaneStatus, Limit, Log, MAX_IDS, OnDead, OperatorAct, Order, Paged, Pattern, Payload, Position,
    Published, RelayId, RelayStatus, ResetTo, Result, Retention, RetryOverrides, RetryPolicy, Sink, Sort,
    Spot, Stamp, Start, Status, StatusWord, Subscription, SubscriptionStatus, SystemClock, Timeline,
    TimelineItem, Timestamp, TopicRule, Unpublished, Upkeep, Verdict, aggregate_types, event_types,
};
pub use posthaste_file::FileSink;
pub use posthaste_listeners::{ListenerError, Listeners, Received};
pub use posthaste_relay::{Pulse, Settings, Stopped, Tuner, Tuning, metric};

pub use self::{
    outbox::{Outbox, OutboxBuilder},
    place::Place,
    publisher::{Publisher, Through},
    registry::{Driver, OpenOptions, SCHEMES, open, publisher},
    relay::{LISTENERS, Relay, RelayBuilder},
    staged::Staged,
    transaction::{Begin, Commit, Transaction},
    unit_of_work::UnitOfWork,
};

/// SQLite: pools and transactions that suit the log.
#[cfg(feature = "sqlite")]
pub mod sqlite {
    pub use posthaste_sqlite::{SqliteConnection, SqlitePool, SqliteTransaction, begin, pool};
}
