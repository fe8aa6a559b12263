//! Points in time as the database knows them. Only a [`Clock`] says what time it is; everything else is told.

use std::{
    ops::Add,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

/// Microseconds since 1970-01-01 00:00 UTC, by the database's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// How much later `self` is than `earlier`; zero if it is not.
    #[must_use]
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The time this long before; never before the beginning of time.
    #[must_use]
    pub fn before(self, span: Duration) -> Timestamp {
        Timestamp(self.0.saturating_sub(micros(span)))
    }
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    fn add(self, span: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(micros(span)))
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Timestamp(micros(since)),
            Err(before) => Timestamp(-micros(before.duration())),
        }
    }
}

impl From<Timestamp> for SystemTime {
    fn from(time: Timestamp) -> Self {
        let span = Duration::from_micros(time.0.unsigned_abs());
        if time.0 >= 0 { UNIX_EPOCH + span } else { UNIX_EPOCH - span }
    }
}

/// Where time comes from: the system in production, a test's hand in tests.
pub trait Clock: Send + Sync {
    /// What time it is.
    fn now(&self) -> Timestamp;
}

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the system")]
    fn now(&self) -> Timestamp {
        SystemTime::now().into()
    }
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}
