//! What all requests share.

use std::{
    ops::Deref,
    sync::{Arc, Mutex},
};

use posthaste::{Admin, Sink};
use tokio::sync::{Semaphore, SetOnce};

use crate::{
    backing::Backing, exporter::Exporter, live::Hub, lockout::Lockout, problem::Problem, settings::Settings,
};

/// How many requests are answered at the same time.
const REQUESTS: usize = 64;

/// What all requests share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

pub(crate) struct Shared {
    parts: Parts,
    pub(crate) hub: Hub,
    pub(crate) lockout: Mutex<Lockout>,
    pub(crate) requests: Semaphore,
    /// The log, and the relay in this process, as soon as they are there.
    pub(crate) backing: SetOnce<Backing>,
}

/// What a server is about.
pub(crate) struct Parts {
    pub(crate) settings: Settings,
    /// The configuration of the whole program, without secrets.
    pub(crate) config: Option<String>,
    pub(crate) exporter: Option<Exporter>,
    /// Where this process delivers, by subscription.
    pub(crate) sinks: Vec<(String, Arc<dyn Sink>)>,
}

impl App {
    pub(crate) fn new(parts: Parts) -> Self {
        let requests = Semaphore::new(REQUESTS);
        let (hub, lockout, backing) = (Hub::new(), Mutex::default(), SetOnce::new());
        Self(Arc::new(Shared { parts, hub, lockout, requests, backing }))
    }

    /// What operators can ask and do, if the log is there.
    pub(crate) fn admin(&self) -> Result<&dyn Admin, Problem> {
        let backing = self.backing.get().ok_or_else(|| {
            Problem::unavailable(
                "the relay waits for the database; /health says why",
                std::time::Duration::from_secs(1),
            )
        })?;
        Ok(backing.admin.as_ref())
    }
}

impl Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl Deref for Shared {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}
