//! A clock that only a test moves.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use posthaste_core::{Clock, Timestamp};

/// A clock that stands still until a test moves it. Clones are the same clock.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicI64>);

impl Default for ManualClock {
    /// A clock that begins on 2024-01-01 at 00:00 UTC.
    fn default() -> Self {
        Self::new(Timestamp(1_704_067_200_000_000))
    }
}

impl ManualClock {
    /// A clock that begins at this time.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(start.0)))
    }

    /// The same clock, as logs and sinks want it.
    #[must_use]
    pub fn shared(&self) -> Arc<dyn Clock> {
        Arc::new(self.clone())
    }

    /// Lets this much time pass, and says what time it is then.
    pub fn advance(&self, span: Duration) -> Timestamp {
        let now = Timestamp(self.0.load(Ordering::SeqCst)) + span;
        self.set(now);
        now
    }

    /// Moves the clock to this time, which may also lie in the past.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.0, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_only_when_told_and_for_all_clones() {
        let clock = ManualClock::new(Timestamp(5));
        let same = clock.shared();

        assert_eq!(same.now(), Timestamp(5));
        assert_eq!(clock.advance(Duration::from_micros(2)), Timestamp(7));
        clock.set(Timestamp(1));
        assert_eq!(same.now(), Timestamp(1));
    }
}
