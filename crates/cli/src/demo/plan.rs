//! What happens when, in a demo of any length.

use std::{ops::Range, time::Duration};

/// How long and how busy the demo is.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Events a second.
    pub(crate) rate: u32,
    /// For how long the shop is open.
    pub(crate) duration: Duration,
    /// What every choice follows from.
    pub(crate) seed: u64,
}

impl Plan {
    /// From when on the next order is the one that brings out the bug.
    pub(crate) fn poison(&self) -> Duration {
        self.duration.mul_f64(0.15)
    }

    /// When one destination is down.
    pub(crate) fn outage(&self) -> Range<Duration> {
        self.duration.mul_f64(0.25)..self.duration.mul_f64(0.5)
    }

    /// When the bug is fixed and the dead letter sent again.
    pub(crate) fn repair(&self) -> Duration {
        self.duration.mul_f64(0.65)
    }
}
