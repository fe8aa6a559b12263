//! Setting a relay otherwise while it runs: by the file, which is read again on SIGHUP, or by an operator over the API. Both take this
//! one way.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use posthaste::{Admin, Error, OperatorAct, Result, Tuner, Tuning};
use posthaste_config::{Config, Served, is_level};
use posthaste_server::{Tunable, Tuned};
use tracing::{error, info, warn};

use super::tap::Tap;
use crate::{database::read_config, logging};

/// Who is written into the journal for what the file says.
const CONFIGURATION: &str = "configuration";

/// What of a running relay can be set otherwise. Cheap to clone.
#[derive(Clone)]
pub(super) struct Controls {
    tuner: Tuner,
    /// The sinks by the names of their subscriptions.
    taps: Vec<(String, Tap)>,
    /// The configuration as it was read last, and where.
    config: Option<Arc<(PathBuf, Mutex<Config>)>>,
}

impl Controls {
    pub(super) fn new(tuner: Tuner, taps: Vec<(String, Tap)>, config: Option<(PathBuf, Config)>) -> Self {
        let config = config.map(|(file, config)| Arc::new((file, Mutex::new(config))));
        Self { tuner, taps, config }
    }

    /// Reads the file again. If anything in it is wrong nothing changes, and all of it is said; what cannot change while the relay
    /// runs is named.
    pub(super) async fn read_again(&self, admin: &dyn Admin) {
        let Some(config) = &self.config else { return };
        let (file, before) = (&config.0, &config.1);
        let new = match read_config(file) {
            Ok(new) => new,
            Err(error) => {
                error!(error = %format!("{error:#}"), "the file is wrong; nothing changes");
                return;
            }
        };
        let old = before.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let changes = old.changes(&new);
        for key in &changes.restart {
            warn!(key, "changed in the file; it counts when the relay is started again");
        }
        if let Err(error) = self.tune(&self.of_file(&new)) {
            error!(error = %error.chain(), "what the file says cannot be set; nothing changes");
            return;
        }
        self.set_rules(&new.subscriptions);
        set_pauses(admin, &old.subscriptions, &new.subscriptions).await;
        info!(file = %file.display(), changed = changes.hot.join(", "), waiting = changes.restart.len(), "the file was read again");
        // What needs a restart is still to be told the next time.
        *before.lock().unwrap_or_else(PoisonError::into_inner) = old.with_hot(&new);
    }

    /// What payloads have to be is what the file says now, and what is in the schemas that it names.
    fn set_rules(&self, subscriptions: &[Served]) {
        for (name, tap) in &self.taps {
            if let Some(served) = subscriptions.iter().find(|served| served.subscription.name == *name) {
                tap.set_rules(served.rules.clone());
            }
        }
    }

    /// How a file wants it, as far as this relay is concerned.
    fn of_file(&self, config: &Config) -> Tuned {
        let mut tuning = Tuning::of(&config.settings);
        let running = self.names();
        tuning.rate_limits.retain(|name, _| running.contains(name));
        let log_level = if logging::level_is_given() { logging::level() } else { config.log.level.clone() };
        Tuned { tuning, log_level }
    }

    fn names(&self) -> Vec<String> {
        self.tuner.subscriptions().to_vec()
    }
}

impl Tunable for Controls {
    fn tuned(&self) -> Tuned {
        Tuned { tuning: self.tuner.tuning(), log_level: logging::level() }
    }

    fn tune(&self, tuned: &Tuned) -> Result<()> {
        if !is_level(&tuned.log_level) && tuned.log_level != logging::level() {
            let text = "log_level is not understood; allowed is off, error, warn, info, debug or trace, also by module";
            return Err(Error::invalid(text));
        }
        self.tuner.set(tuned.tuning.clone())?;
        match logging::set_level(&tuned.log_level) {
            None => Ok(()),
            Some(wrong) => Err(Error::invalid(wrong)),
        }
    }

    fn shown(&self) -> Option<String> {
        let config = self.config.as_ref()?;
        Some(config.1.lock().unwrap_or_else(PoisonError::into_inner).show())
    }
}

/// Pauses what a file wants paused when the relay starts. What it wants to go on is left to operators: they may have paused it since.
pub(super) async fn pause_at_start(admin: &dyn Admin, subscriptions: &[Served]) {
    for served in subscriptions.iter().filter(|served| served.paused == Some(true)) {
        act(admin, OperatorAct::Pause(served.subscription.name.clone())).await;
    }
}

/// Pauses what the new file wants paused and the old one did not, and the other way round.
async fn set_pauses(admin: &dyn Admin, old: &[Served], new: &[Served]) {
    for served in new {
        let name = &served.subscription.name;
        let before = old.iter().find(|old| old.subscription.name == *name).and_then(|old| old.paused);
        match served.paused {
            Some(true) if before != Some(true) => act(admin, OperatorAct::Pause(name.clone())).await,
            Some(false) | None if before == Some(true) => act(admin, OperatorAct::Resume(name.clone())).await,
            _ => {}
        }
    }
}

async fn act(admin: &dyn Admin, act: OperatorAct) {
    if let Err(error) = admin.act(&act, CONFIGURATION).await {
        error!(error = %error.chain(), ?act, "what the file wants could not be done");
    }
}
