//! Time inside the engine: how long the relay has been running. It only goes forward, and it is always an argument.

use std::{ops::Add, time::Duration};

/// A point in the life of a relay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// The moment this long after the relay began.
    #[must_use]
    pub fn after(span: Duration) -> Self {
        Self(span)
    }

    /// How long after the relay began this is.
    #[must_use]
    pub fn elapsed(self) -> Duration {
        self.0
    }

    /// How much later this is than `earlier`; zero if it is not.
    #[must_use]
    pub fn since(self, earlier: Moment) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Add<Duration> for Moment {
    type Output = Moment;

    fn add(self, span: Duration) -> Moment {
        Moment(self.0.saturating_add(span))
    }
}
