//! What operators are told when something cannot be done, in the same words for every database.

use crate::{Error, ErrorKind, EventId};

/// There is no such event.
#[must_use]
pub fn no_event(id: EventId) -> Error {
    Error::new(ErrorKind::NotFound, format!("event {id} is not in the log"))
}

/// There is no such dead letter.
#[must_use]
pub fn no_dead_letter(dead_id: i64) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no dead letter {dead_id}"))
}

/// There is no such job.
#[must_use]
pub fn no_job(job_id: i64) -> Error {
    let message =
        format!("there is no job {job_id}; one that was over is removed with the journal of its time");
    Error::new(ErrorKind::NotFound, message)
}

/// There is no such subscription; these there are.
#[must_use]
pub fn no_subscription(name: &str, names: &[String]) -> Error {
    let known = if names.is_empty() { "there are none".to_owned() } else { names.join(", ") };
    Error::new(ErrorKind::NotFound, format!("no subscription is called {name:?}; known are: {known}"))
}

/// Somebody was faster with this dead letter.
#[must_use]
pub fn resolved(dead_id: i64, resolution: &str, by: Option<&str>) -> Error {
    let by = by.unwrap_or("nobody");
    refused(format!("dead letter {dead_id} was {resolution} already, by {by}"))
}

/// A dead letter can only be sent again to a subscription that is still there.
#[must_use]
pub fn homeless(name: &str) -> Error {
    refused(format!("subscription {name:?} was dropped; create it again before its dead letters are sent"))
}

/// Whoever resets or drops a subscription pauses it first.
#[must_use]
pub fn not_paused(name: &str) -> Error {
    refused(format!("subscription {name:?} is not paused; pause it first"))
}

/// Somebody could still deliver.
#[must_use]
pub fn held(name: &str, holders: &[String]) -> Error {
    let holders = holders.join(", ");
    refused(format!("lanes of subscription {name:?} are held by {holders}; wait until they are given back"))
}

/// An event with this id was published before.
#[must_use]
pub fn id_is_used(id: EventId) -> Error {
    Error::invalid(format!("event {id} is in the log already; every event needs its own id"))
}

/// Only what happened to an aggregate can be numbered in it.
#[must_use]
pub fn no_aggregate(id: EventId) -> Error {
    Error::invalid(format!("event {id} cannot draw a version without an aggregate"))
}

fn refused(message: String) -> Error {
    Error::new(ErrorKind::Refused, message)
}
