//! What can be set about a relay. Every bound is here.

use std::{collections::BTreeMap, time::Duration};

use posthaste_core::{Error, Limit, Result, Retention};

/// The settings of a relay, with defaults that suit most.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long the relay's lease lasts; it is renewed at a third of it.
    pub lease: Duration,
    /// The most one read brings in.
    pub page: Limit,
    /// The most that is held in memory for a subscription: read ahead and in flight.
    pub buffer: Limit,
    /// The most entries of one lane between a first send and its settlement: what a crash can repeat.
    pub batch: usize,
    /// How many lanes of a subscription deliver at the same time.
    pub concurrency: usize,
    /// How long a settlement may wait for company when nothing is waiting for it.
    pub settle_interval: Duration,
    /// The wait between reads while events keep coming.
    pub poll_min: Duration,
    /// The longest wait between reads when nothing comes.
    pub poll_max: Duration,
    /// How many events may wait for delivery from memory.
    pub hot_queue: usize,
    /// How many events of a lane may be delivered from memory before its cursor has passed them.
    pub hot_marks: usize,
    /// How often lanes without traffic of their own note how far they have read.
    pub move_interval: Duration,
    /// How long a shutdown waits for what is in flight.
    pub grace: Duration,
    /// How often what is no longer needed is removed.
    pub prune_interval: Duration,
    /// What is still needed.
    pub retention: Retention,
    /// How many entries a second a subscription sends at most, in all relays together, by its name; without a limit if it is not here.
    pub rate_limits: BTreeMap<String, u32>,
}

impl Default for Settings {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            lease: Duration::from_secs(15),
            page: Limit { entries: 4_096, bytes: 8 * MIB },
            buffer: Limit { entries: 16_384, bytes: 32 * MIB },
            batch: 1_000,
            concurrency: 64,
            settle_interval: Duration::from_millis(100),
            poll_min: Duration::from_millis(2),
            poll_max: Duration::from_secs(1),
            hot_queue: 1_000,
            hot_marks: 1_000,
            move_interval: Duration::from_secs(60),
            grace: Duration::from_secs(10),
            prune_interval: Duration::from_secs(60),
            retention: Retention::default(),
            rate_limits: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// The share of the lease during which the relay sends: what is left is the margin for slow clocks and networks.
    const SENDING_SHARE: f64 = 0.8;

    /// For how long after a renewal was asked for the relay may send.
    #[must_use]
    pub fn sending_time(&self) -> Duration {
        self.lease.mul_f64(Self::SENDING_SHARE)
    }

    /// Says everything that is wrong with the settings.
    pub fn validate(&self) -> Result<()> {
        let mut problems = Vec::new();
        let mut demand = |good: bool, problem: String| {
            if !good {
                problems.push(problem);
            }
        };
        demand(
            self.lease >= Duration::from_millis(500),
            format!("lease is {:?}; at least 500ms", self.lease),
        );
        demand(
            self.page.entries > 0 && self.page.bytes > 0,
            "page is empty; at least 1 entry and 1 byte".to_owned(),
        );
        demand(
            self.buffer.entries >= self.page.entries && self.buffer.bytes >= self.page.bytes,
            format!("buffer {:?} is smaller than page {:?}", self.buffer, self.page),
        );
        demand(self.batch > 0, "batch is 0; at least 1".to_owned());
        demand(
            self.rate_limits.values().all(|limit| *limit > 0),
            "a rate limit is 0; at least 1, or pause the subscription".to_owned(),
        );
        demand(self.concurrency > 0, "concurrency is 0; at least 1".to_owned());
        demand(self.hot_queue > 0, "hot_queue is 0; at least 1".to_owned());
        demand(
            !self.prune_interval.is_zero() && self.retention.step > 0,
            "prune_interval or retention.step is 0; pruning would never pause".to_owned(),
        );
        demand(
            !self.poll_min.is_zero()
                && self.poll_min <= self.poll_max
                && self.poll_max <= Duration::from_secs(10),
            format!(
                "poll_min is {:?} and poll_max {:?}; 0 < poll_min <= poll_max <= 10s",
                self.poll_min, self.poll_max
            ),
        );
        demand(
            self.settle_interval <= self.lease / 2,
            format!("settle_interval is {:?}; at most half the lease", self.settle_interval),
        );
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Error::invalid(format!("relay settings: {}", problems.join("; "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_everything_that_is_wrong_at_once() {
        let settings = Settings {
            batch: 0,
            poll_max: Duration::from_secs(60),
            lease: Duration::ZERO,
            prune_interval: Duration::ZERO,
            ..Settings::default()
        };
        let message = settings.validate().unwrap_err().to_string();

        for key in ["batch", "poll_max", "lease", "settle_interval", "prune_interval"] {
            assert!(message.contains(key), "{key} in {message}");
        }
        assert!(Settings::default().validate().is_ok());
    }
}
