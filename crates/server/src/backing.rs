//! What a server is over: a log, and the relay in this process. It may come later than the server itself.

use std::sync::Arc;

use posthaste::{Admin, Publisher, Pulse};

use crate::{app::App, tuned::Tunable};

/// What a server is over.
pub struct Backing {
    pub(crate) admin: Arc<dyn Admin>,
    pub(crate) publisher: Option<Arc<dyn Publisher>>,
    pub(crate) pulse: Option<Pulse>,
    pub(crate) tunable: Option<Arc<dyn Tunable>>,
}

impl Backing {
    /// What operators can ask and do.
    pub fn new(admin: Arc<dyn Admin>) -> Self {
        Self { admin, publisher: None, pulse: None, tunable: None }
    }

    /// Lets operators publish events through this.
    #[must_use]
    pub fn publisher(mut self, publisher: Arc<dyn Publisher>) -> Self {
        self.publisher = Some(publisher);
        self
    }

    /// Looks after the relay in this process: without it the server is not ready.
    #[must_use]
    pub fn relay(mut self, pulse: Pulse) -> Self {
        self.pulse = Some(pulse);
        self
    }

    /// Lets operators change what can change while the relay runs.
    #[must_use]
    pub fn tunable(mut self, tunable: Arc<dyn Tunable>) -> Self {
        self.tunable = Some(tunable);
        self
    }
}

/// The way into a server that was bound before there was anything to serve.
#[derive(Clone)]
pub struct Entrance(pub(crate) App);

impl Entrance {
    /// Why there is nothing yet, as the database said it: health tells.
    pub fn waits(&self, reason: impl Into<String>) {
        self.0.hub.known().note_database(Err(reason.into()));
    }

    /// Here it is. What came first stays.
    pub fn open(&self, backing: Backing) {
        _ = self.0.backing.set(backing);
    }
}
