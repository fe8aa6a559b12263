//! Listeners: a sink made of functions in the process.
//!
//! ```
//! use posthaste_listeners::{ListenerError, Listeners, Received};
//!
//! posthaste_core::event_types! { pub enum UserEvent { Created = "user.created", Deleted = "user.deleted" } }
//!
//! async fn send_welcome_mail(event: Received) -> Result<(), ListenerError> {
//!     let address = std::str::from_utf8(event.payload.as_bytes())?; // Any error: tried again later.
//!     if !address.contains('@') {
//!         return Err(ListenerError::permanent("not an address")); // A dead letter at once.
//!     }
//!     Ok(())
//! }
//!
//! let listeners = Listeners::new()
//!     .on(UserEvent::Created, send_welcome_mail)
//!     .on("user.deleted", |event| async move {
//!         eprintln!("{} is gone", event.key.as_deref().unwrap_or("somebody"));
//!         Ok(())
//!     })
//!     .on_all(|event| async move {
//!         eprintln!("attempt {} of {}", event.attempt(), event.id);
//!         Ok(())
//!     });
//! # drop(listeners);
//! ```
//!
//! **Which listeners run.** Those of exactly the event's type first, then those with a `*`, each in the order of their
//! registration, one after the other. An event that no listener wants is delivered: there is nothing to do. The first
//! listener that fails ends the event's turn, and its retry runs *all* of its listeners again; those that must not
//! repeat each other's work belong in subscriptions of their own.
//!
//! **What a listener's end means**
//!
//! | the listener | the event |
//! |---|---|
//! | returns `Ok(())` | goes to its next listener; after the last it is delivered |
//! | returns any error | is tried again by the retry policy |
//! | returns [`ListenerError::permanent`] | is a dead letter, `permanent_failure` |
//! | returns [`ListenerError::unavailable`] or [`throttled`](ListenerError::throttled) | waits with the whole subscription; no attempt counts |
//! | panics | is a dead letter, `poison_message` |
//! | exceeds its time limit | is tried again; at last a dead letter, `processing_timeout` |
//!
//! **Order.** Events of one key run strictly one after another, and after a failure the rest of the key waits. Lanes
//! already run beside each other, so within one batch everything runs in turn unless
//! [`concurrency`](Listeners::concurrency) allows several keys at once.
//!
//! **When the lease ends.** A relay may deliver only while its lease is good. Nothing is begun after that, and a
//! listener that is still running then is cut off at its next `.await`. If the event had begun in the first half of the
//! batch's time, it failed by its own slowness, as if by a time limit. Otherwise it only came late in its batch: no attempt
//! counts, and it is the first of the next batch, with the whole time for itself. So a listener can run for about half
//! the lease at worst; longer work needs a longer lease. A listener that blocks its thread cannot be cut off; move such
//! work to `spawn_blocking`.

mod error;
mod received;
mod registry;
mod sink;

pub use error::ListenerError;
pub use received::Received;
pub use registry::Listeners;
