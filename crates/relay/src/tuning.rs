//! What can change while a relay runs. Everything else needs a new one.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use posthaste_core::{Error, Result};
use tokio::sync::watch;

use crate::Settings;

/// What can change while a relay runs; a part of its [`Settings`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// The most entries of one lane between a first send and its settlement.
    pub batch: usize,
    /// The wait between reads while events keep coming.
    pub poll_min: Duration,
    /// The longest wait between reads when nothing comes.
    pub poll_max: Duration,
    /// How many entries a second a subscription sends at most, by its name; without a limit if it is not here.
    pub rate_limits: BTreeMap<String, u32>,
}

impl Tuning {
    /// What the settings say.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        Self {
            batch: settings.batch,
            poll_min: settings.poll_min,
            poll_max: settings.poll_max,
            rate_limits: settings.rate_limits.clone(),
        }
    }

    /// The settings with this instead of what they say.
    pub(crate) fn over(&self, settings: &Settings) -> Settings {
        Settings {
            batch: self.batch,
            poll_min: self.poll_min,
            poll_max: self.poll_max,
            rate_limits: self.rate_limits.clone(),
            ..settings.clone()
        }
    }
}

/// Changes a relay while it runs. Cheap to clone; it outlives the relay, and then changes nothing any more.
#[derive(Clone, Debug)]
pub struct Tuner {
    settings: Arc<Settings>,
    subscriptions: Arc<[String]>,
    tuning: watch::Sender<Tuning>,
}

impl Tuner {
    pub(crate) fn new(settings: Settings, subscriptions: Vec<String>) -> Self {
        let tuning = watch::Sender::new(Tuning::of(&settings));
        Self { settings: Arc::new(settings), subscriptions: subscriptions.into(), tuning }
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Tuning> {
        self.tuning.subscribe()
    }

    /// The subscriptions that the relay serves.
    #[must_use]
    pub fn subscriptions(&self) -> &[String] {
        &self.subscriptions
    }

    /// What counts now.
    #[must_use]
    pub fn tuning(&self) -> Tuning {
        self.tuning.borrow().clone()
    }

    /// Changes what counts, from the next read and the next batch on; refuses what a relay could not have been started with.
    pub fn set(&self, tuning: Tuning) -> Result<()> {
        tuning.over(&self.settings).validate()?;
        if let Some(name) = tuning.rate_limits.keys().find(|name| !self.subscriptions.contains(name)) {
            return Err(Error::invalid(format!("this relay has no subscription {name:?} to limit")));
        }
        self.tuning.send_replace(tuning);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_relay_could_not_start_with_changes_nothing() {
        let tuner = Tuner::new(Settings::default(), vec!["a".to_owned()]);
        let usual = tuner.tuning();
        let limit = |name: &str, limit| BTreeMap::from([(name.to_owned(), limit)]);
        for bad in [
            Tuning { batch: 0, ..usual.clone() },
            Tuning { poll_max: Duration::from_secs(60), ..usual.clone() },
            Tuning { rate_limits: limit("b", 5), ..usual.clone() },
            Tuning { rate_limits: limit("a", 0), ..usual.clone() },
        ] {
            assert!(tuner.set(bad).is_err());
            assert_eq!(tuner.tuning(), usual);
        }
        let good = Tuning { batch: 5, rate_limits: limit("a", 1), ..usual };
        tuner.set(good.clone()).unwrap();
        assert_eq!(tuner.tuning(), good);
    }
}
