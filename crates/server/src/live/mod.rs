//! Live figures: one sampler for all who look, the last quarter of an hour, and what just happened.

pub(crate) mod known;
pub(crate) mod notice;
pub(crate) mod progress;
pub(crate) mod reading;
pub(crate) mod ring;
pub(crate) mod sample;
pub(crate) mod sampler;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, broadcast, watch};

use self::known::Known;

/// How many may look at the same time.
const VIEWERS: usize = 64;
/// How many seconds a slow one may be behind before it misses some.
const BEHIND: usize = 16;

/// Where the sampler writes and those who look read.
pub(crate) struct Hub {
    known: Mutex<Known>,
    news: broadcast::Sender<Bytes>,
    viewers: Arc<Semaphore>,
    closing: watch::Sender<bool>,
    joined: Notify,
}

/// Somebody who looks.
pub(crate) struct Viewer {
    pub(crate) news: broadcast::Receiver<Bytes>,
    pub(crate) closing: watch::Receiver<bool>,
    pub(crate) _place: OwnedSemaphorePermit,
}

impl Hub {
    pub(crate) fn new() -> Self {
        Self {
            known: Mutex::default(),
            news: broadcast::channel(BEHIND).0,
            viewers: Arc::new(Semaphore::new(VIEWERS)),
            closing: watch::channel(false).0,
            joined: Notify::new(),
        }
    }

    /// What is known at present.
    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells everybody who looks. Nobody may: that is all right.
    pub(crate) fn tell(&self, event: &str, data: &impl serde::Serialize) {
        if !self.is_watched() {
            return;
        }
        // JSON has no line breaks of its own, so that it is one line of the stream.
        let data = serde_json::to_string(data).unwrap_or_default();
        _ = self.news.send(Bytes::from(format!("event: {event}\ndata: {data}\n\n")));
    }

    /// A place among those who look, if there is one left.
    pub(crate) fn join(&self) -> Option<Viewer> {
        let place = Arc::clone(&self.viewers).try_acquire_owned().ok()?;
        self.joined.notify_one();
        Some(Viewer { news: self.news.subscribe(), closing: self.closing.subscribe(), _place: place })
    }

    /// Whether somebody looks.
    pub(crate) fn is_watched(&self) -> bool {
        self.news.receiver_count() > 0
    }

    /// Waits until somebody more looks.
    pub(crate) async fn joined(&self) {
        self.joined.notified().await;
    }

    /// Sends everybody home: the server stops.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }
}
