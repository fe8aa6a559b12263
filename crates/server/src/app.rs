//! What all requests share.

use std::{
    ops::Deref,
    sync::{Arc, Mutex},
};

use posthaste::{Admin, Pulse, Sink};
use tokio::sync::Semaphore;

use crate::{exporter::Exporter, live::Hub, lockout::Lockout, publish::Publisher, settings::Settings};

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
}

/// What a server is about.
pub(crate) struct Parts {
    pub(crate) settings: Settings,
    pub(crate) admin: Arc<dyn Admin>,
    pub(crate) publisher: Option<Arc<dyn Publisher>>,
    /// The configuration of the whole program, without secrets.
    pub(crate) config: Option<String>,
    pub(crate) exporter: Option<Exporter>,
    /// The relay in this process.
    pub(crate) pulse: Option<Pulse>,
    /// Where this process delivers, by subscription.
    pub(crate) sinks: Vec<(String, Arc<dyn Sink>)>,
}

impl App {
    pub(crate) fn new(parts: Parts) -> Self {
        let requests = Semaphore::new(REQUESTS);
        Self(Arc::new(Shared { parts, hub: Hub::new(), lockout: Mutex::default(), requests }))
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
