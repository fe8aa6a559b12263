//! What a relay is to do, wherever that was said.

use std::path::PathBuf;

use posthaste::{OutboxBuilder, Settings, metric};
use posthaste_config::{Config, Database, Served};

pub(super) struct Job {
    pub(super) database: Database,
    pub(super) settings: Settings,
    /// The largest payload that is delivered; the usual one unless set.
    pub(super) payload_limit: Option<usize>,
    pub(super) metrics_prefix: String,
    pub(super) subscriptions: Vec<Served>,
    pub(super) patience: Patience,
    /// What is served besides.
    pub(super) server: Option<posthaste_config::Server>,
    /// The configuration itself, if there is one.
    pub(super) config: Option<Config>,
    /// The file that it came from.
    pub(super) file: Option<PathBuf>,
}

/// What to do if the database cannot be reached when the relay starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// Give up: a person is looking.
    None,
    /// Wait for it: nobody is.
    Endless,
}

impl Job {
    pub(super) fn new(database: Database, patience: Patience) -> Self {
        Self {
            database,
            settings: Settings::default(),
            payload_limit: None,
            metrics_prefix: metric::DEFAULT_PREFIX.to_owned(),
            subscriptions: Vec::new(),
            patience,
            server: None,
            config: None,
            file: None,
        }
    }

    /// What a configuration asks for: that of a file, or of the environment.
    pub(super) fn of_config(config: Config, file: Option<PathBuf>) -> Self {
        Self {
            config: Some(config.clone()),
            file,
            server: config.server,
            settings: config.settings,
            payload_limit: Some(config.payload_limit),
            metrics_prefix: config.metrics_prefix,
            subscriptions: config.subscriptions,
            ..Self::new(config.database, Patience::Endless)
        }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.subscriptions.iter().map(|served| served.subscription.name.as_str())
    }

    /// The outbox, to be opened.
    pub(super) fn outbox(&self) -> OutboxBuilder {
        let outbox = self.database.outbox().without_creation().metrics_prefix(&self.metrics_prefix);
        match self.payload_limit {
            Some(limit) => outbox.payload_limit(limit),
            None => outbox,
        }
    }
}
